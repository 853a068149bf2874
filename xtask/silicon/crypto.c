// Repeats one call of libcrypto's EVP interface, as `openssl speed -evp ALGORITHM` does: crypto ALGORITHM BYTES CALLS.
//
// The calls between hints 40 and 41 count, after as many warm-up calls; the part between hints 42 and 43 is recorded.
// The declarations below are those of OpenSSL 3, so that no header of it is needed.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct evp_cipher_ctx EVP_CIPHER_CTX;
typedef struct evp_cipher EVP_CIPHER;
typedef struct evp_md EVP_MD;

EVP_MD *EVP_MD_fetch(void *context, const char *name, const char *properties);
typedef struct evp_md_ctx EVP_MD_CTX;

EVP_MD_CTX *EVP_MD_CTX_new(void);
void EVP_MD_CTX_free(EVP_MD_CTX *context);
int EVP_DigestInit_ex(EVP_MD_CTX *context, const EVP_MD *type, void *engine);
int EVP_DigestUpdate(EVP_MD_CTX *context, const void *data, size_t bytes);
int EVP_DigestFinalXOF(EVP_MD_CTX *context, unsigned char *md, size_t size);
int EVP_Digest(const void *data, size_t bytes, unsigned char *md, unsigned int *size, const EVP_MD *type, void *engine);
EVP_CIPHER *EVP_CIPHER_fetch(void *context, const char *name, const char *properties);
EVP_CIPHER_CTX *EVP_CIPHER_CTX_new(void);
int EVP_CipherInit_ex(EVP_CIPHER_CTX *context, const EVP_CIPHER *type, void *engine, const unsigned char *key,
                      const unsigned char *iv, int encrypts);
int EVP_EncryptUpdate(EVP_CIPHER_CTX *context, unsigned char *out, int *written, const unsigned char *in, int bytes);
int EVP_CIPHER_CTX_set_padding(EVP_CIPHER_CTX *context, int padding);

static unsigned char buffer[16384 + 64] __attribute__((aligned(64)));
static unsigned char result[64];

// Since OpenSSL 3.4 SHAKE has no default length; before, EVP_Digest took this many bytes.
static size_t xof_bytes;

static int digest_xof(const EVP_MD *type, size_t bytes) {
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    int is_right = EVP_DigestInit_ex(context, type, NULL) && EVP_DigestUpdate(context, buffer, bytes) &&
                   EVP_DigestFinalXOF(context, result, xof_bytes);
    EVP_MD_CTX_free(context);
    return is_right;
}

static int digest(const EVP_MD *type, size_t bytes) {
    if (xof_bytes != 0) return digest_xof(type, bytes);
    return EVP_Digest(buffer, bytes, result, NULL, type, NULL);
}

static int encrypt(EVP_CIPHER_CTX *context, int bytes) {
    int written = 0;
    return EVP_EncryptUpdate(context, buffer, &written, buffer, bytes);
}

static int calls(const EVP_MD *type, EVP_CIPHER_CTX *context, size_t bytes, long count) {
    int is_right = 1;
    if (type != NULL)
        for (long i = 0; i < count; i++) is_right &= digest(type, bytes);
    else
        for (long i = 0; i < count; i++) is_right &= encrypt(context, (int)bytes);
    return is_right;
}

int main(int count, char **arguments) {
    if (count != 4) return 2;
    size_t bytes = strtoul(arguments[2], NULL, 10);
    if (strcmp(arguments[1], "SHAKE128") == 0) xof_bytes = 16;
    if (strcmp(arguments[1], "SHAKE256") == 0) xof_bytes = 32;
    long repeat = strtol(arguments[3], NULL, 10);
    static unsigned char key[32], iv[16];
    for (unsigned i = 0; i < sizeof buffer; i++) buffer[i] = (unsigned char)(i * 7);
    for (unsigned i = 0; i < sizeof key; i++) key[i] = (unsigned char)(i + 1);
    EVP_MD *type = EVP_MD_fetch(NULL, arguments[1], NULL);
    EVP_CIPHER_CTX *context = NULL;
    if (type == NULL) {
        EVP_CIPHER *cipher = EVP_CIPHER_fetch(NULL, arguments[1], NULL);
        context = EVP_CIPHER_CTX_new();
        if (cipher == NULL || EVP_CipherInit_ex(context, cipher, NULL, key, iv, 1) != 1) return 3;
        EVP_CIPHER_CTX_set_padding(context, 0);
    }
    __asm__ volatile("hint #42" ::: "memory");
    int is_right = calls(type, context, bytes, repeat);
    __asm__ volatile("hint #40" ::: "memory");
    is_right &= calls(type, context, bytes, repeat);
    __asm__ volatile("hint #41\n\thint #43" ::: "memory");
    printf("crypto: %s\n", is_right ? "ok" : "WRONG");
    return !is_right;
}
