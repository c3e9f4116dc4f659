/** Encryption of backups by a passphrase, in the format of age (age-encryption.org/v1). */
import { createCipheriv, randomBytes, scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import { Decrypter, Encrypter, type Recipient, Stanza } from 'age-encryption';
import { BackupError } from './manifest.ts';

/** First bytes of every file in the format of age. */
const intro = Buffer.from('age-encryption.org/');

/**
 * Work factor: scrypt with N = 2^16 takes 64 MiB of memory. The default of age, 2^18, takes four times as
 * much, which is more than an idle master.
 */
const logN = 16;
const blockSize = 8;

const derive = promisify<string, Buffer, number, object, Buffer>(scrypt);

/** Returns the encrypted bytes. */
export async function encrypted(
  bytes: ReadableStream<Uint8Array>,
  passphrase: string,
): Promise<ReadableStream<Uint8Array>> {
  const encrypter = new Encrypter();
  encrypter.addRecipient(passphraseRecipient(passphrase));
  return encrypter.encrypt(bytes);
}

/**
 * Wraps the key of a file by a passphrase: the scrypt recipient of the specification. The library has one
 * too, which blocks the event loop for a second.
 */
const passphraseRecipient = (passphrase: string): Recipient => ({
  async wrapFileKey(fileKey) {
    const salt = randomBytes(16);
    const labelled = Buffer.concat([Buffer.from('age-encryption.org/v1/scrypt'), salt]);
    const maxmem = 2 * 128 * blockSize * 2 ** logN;
    const key = await derive(passphrase, labelled, 32, { N: 2 ** logN, r: blockSize, p: 1, maxmem });
    const cipher = createCipheriv('chacha20-poly1305', key, Buffer.alloc(12), { authTagLength: 16 });
    const wrapped = Buffer.concat([cipher.update(fileKey), cipher.final(), cipher.getAuthTag()]);
    const salted = salt.toString('base64').replace(/=+$/, '');
    return [new Stanza(['scrypt', salted, String(logN)], wrapped)];
  },
});

/** Returns the decrypted bytes. Rejects with BackupError if the passphrase is wrong. */
export async function decrypted(
  bytes: ReadableStream<Uint8Array>,
  passphrase: string,
): Promise<ReadableStream<Uint8Array>> {
  const decrypter = new Decrypter();
  decrypter.addPassphrase(passphrase);
  try {
    return await decrypter.decrypt(bytes);
  } catch (cause) {
    throw new BackupError('the passphrase does not open this backup', { cause });
  }
}

/** Returns whether a file that begins with these bytes is encrypted. */
export const isEncrypted = (beginning: Uint8Array): boolean =>
  intro.equals(beginning.subarray(0, intro.length));
