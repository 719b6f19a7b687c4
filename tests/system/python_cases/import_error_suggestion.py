from collections import OrderedDct
