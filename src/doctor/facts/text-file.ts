/** Small files of the kernel and of the system. */
import { readFile } from 'node:fs/promises';
import { ifThere } from '../../os/if-there.ts';

/** Resolves to the text of a file; to an empty text if there is none. */
export const textOf = async (path: string): Promise<string> => (await ifThere(readFile(path, 'utf8'))) ?? '';
