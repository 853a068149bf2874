# A module for the running kernel, with its headers (Debian: linux-headers-arm64):
#
#     make && sudo insmod n2sim_litmus.ko && cat /proc/n2sim_litmus > el1.json; sudo rmmod n2sim_litmus
#
# For another kernel: make KDIR=/path/to/its/headers ARCH=arm64 CROSS_COMPILE=aarch64-linux-gnu-

KDIR ?= /lib/modules/$(shell uname -r)/build

obj-m := n2sim_litmus.o

all:
	$(MAKE) -C $(KDIR) M=$(CURDIR) modules

clean:
	$(MAKE) -C $(KDIR) M=$(CURDIR) clean
