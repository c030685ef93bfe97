/* dimensions.h: the dimensions that several tables name, as initialisers of
 * struct dimension (units.h): powers of mass, length, time, temperature, charge
 * and amount. Included by tables only.
 */
#ifndef WARPDECK_BASE_DIMENSIONS_H
#define WARPDECK_BASE_DIMENSIONS_H

#define NO_DIM           \
    {                    \
        0, 0, 0, 0, 0, 0 \
    }
#define MASS             \
    {                    \
        1, 0, 0, 0, 0, 0 \
    }
#define LENGTH           \
    {                    \
        0, 1, 0, 0, 0, 0 \
    }
#define TIME             \
    {                    \
        0, 0, 1, 0, 0, 0 \
    }
#define RATE              \
    {                     \
        0, 0, -1, 0, 0, 0 \
    }
#define TEMPERATURE      \
    {                    \
        0, 0, 0, 1, 0, 0 \
    }
#define ENERGY            \
    {                     \
        1, 2, -2, 0, 0, 0 \
    }

#endif
