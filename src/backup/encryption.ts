/** Encryption of backups by a passphrase, in the format of age (age-encryption.org/v1). */
import { Decrypter, Encrypter } from 'age-encryption';
import { BackupError } from './manifest.ts';

/** First bytes of every file in the format of age. */
const intro = Buffer.from('age-encryption.org/');

/** Returns the encrypted bytes. */
export async function encrypted(
  bytes: ReadableStream<Uint8Array>,
  passphrase: string,
): Promise<ReadableStream<Uint8Array>> {
  const encrypter = new Encrypter();
  encrypter.setPassphrase(passphrase);
  return encrypter.encrypt(bytes);
}

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
