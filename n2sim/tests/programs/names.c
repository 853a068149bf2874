/* Calls its library, after it removed the file of its first argument. */

#include <unistd.h>

unsigned work(unsigned value);

int main(int argc, char **argv)
{
    unsigned value = 0;
    if (argc > 1)
        unlink(argv[1]);
    for (int i = 0; i < 20; i++)
        value = work(value);
    return value == 7;
}
