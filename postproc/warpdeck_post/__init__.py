"""Post-processing for Warpdeck: a result file in, words, pictures or plain text
out. Nothing here writes to a result file.

    cli       the command line
    result    reads a file, also of a run that is going on or was killed
    labels    names and units as people write them
    facts     what a file has to say; logs: what its log says
    show      one screen of words; report: a page, of pieces in page
    watch     a running job in the terminal
    plot      which figure; panels: the graphs in it; spheres: the particles
    render    pictures in three dimensions: particles and fields read what is
              seen, vtkscene draws it, or spheres and rays without VTK
    export    other programs' files; archive: npz and Parquet; vtr: VTK
    chunks    large datasets by pieces
    diff      compare two files
"""
