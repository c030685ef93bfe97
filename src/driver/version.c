#include "driver/version.h"

#include <stdio.h>

#include "base/comm.h"
#include "build_info.h"
#include "io/h5md.h"

const char *version_number(void)
{
    return PACKAGE_VERSION;
}

const char *version_git(void)
{
    return WARPDECK_GIT;
}

const char *version_flags(void)
{
    return WARPDECK_FLAGS;
}

const char *version_libraries(void)
{
    static char text[512]; /* written once, always the same */
    snprintf(text, sizeof(text), "%s, %s", comm_library_version(),
             h5md_library_version());
    return text;
}
