/**
 * Reads the files that `minik8s samples` writes: the samples, the programs that make their images, and the
 * configuration of Prometheus and Grafana.
 */
import { readdir, readFile, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { SampleFile } from '../../src/roles/samples/sample-files.ts';

/** Programs of bin/ that the samples and the pages of docs need on a machine without the repository. */
const programs = ['bin/make-images', 'bin/make-runtimes'];

/** Folders that are written, without the sources in TypeScript that generate some of their files. */
const folders = ['config/monitoring', 'samples'];

/** Returns the relative paths of the files, sorted. */
export async function samplePaths(root: string): Promise<readonly string[]> {
  const filesOf = async (folder: string) => {
    const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true });
    return entries.flatMap((entry) =>
      entry.isFile() && !entry.name.endsWith('.ts')
        ? [relative(root, join(entry.parentPath, entry.name))]
        : [],
    );
  };
  return [...programs, ...(await Promise.all(folders.map(filesOf))).flat()].sort();
}

/** Throws if a file is not text in UTF-8: JSON would change its bytes. */
export async function readSamples(root: string): Promise<readonly SampleFile[]> {
  const read = async (path: string): Promise<SampleFile> => {
    const [content, { mode }] = [await readFile(join(root, path)), await stat(join(root, path))];
    const text = content.toString('utf8');
    if (!Buffer.from(text).equals(content)) throw new Error(`${path} is no text, which samples must be`);
    return { path, executable: (mode & 0o111) !== 0, text };
  };
  return Promise.all((await samplePaths(root)).map(read));
}
