"""FROM where: the command line, one module per verb, and the face that `import outrider` shows to Python."""
