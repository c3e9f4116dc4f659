/** The file SHA256SUMS of a release, which `sha256sum --check` reads. */
import { createHash } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export const digestsFile = 'SHA256SUMS';

/** Writes the digests of all other files of a folder, sorted by name. */
export async function writeDigests(folder: string): Promise<void> {
  const names = (await readdir(folder)).filter((name) => name !== digestsFile).sort();
  const line = async (name: string) => {
    const digest = createHash('sha256').update(await readFile(join(folder, name)));
    return `${digest.digest('hex')}  ${name}\n`;
  };
  const lines = await Promise.all(names.map(line));
  await writeFile(join(folder, digestsFile), lines.join(''), { mode: 0o644 });
}
