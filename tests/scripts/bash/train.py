import sys

print(float(sys.argv[1]) + int(sys.argv[2]))
