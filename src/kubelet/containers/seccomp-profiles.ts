/** Seccomp profiles that an administrator has put on this machine: JSON files below one folder. */
import { open } from 'node:fs/promises';
import { join, normalize } from 'node:path';
import { isRecord } from '../../apimachinery/equality.ts';

/** Maximum bytes of a profile; the engine's own has about twelve thousand. */
const maxBytes = 1024 * 1024;

/**
 * Returns the profile as JSON. Throws an Error that reveals nothing about the machine except whether such a
 * file exists, because anyone who may create pods can read it.
 */
export async function readSeccompProfile(folder: string, file: string): Promise<string> {
  const inside = normalize(file);
  if (file === '' || inside.startsWith('/') || inside.split('/').includes('..'))
    throw new Error('it has to be a path below the folder of profiles');
  const text = await read(join(folder, inside));
  const rules = parsed(text);
  if (!isRecord(rules) || typeof rules.defaultAction !== 'string')
    throw new Error('the file is no seccomp profile: a JSON object with a defaultAction was expected');
  return JSON.stringify(rules);
}

async function read(path: string): Promise<string> {
  try {
    await using handle = await open(path, 'r');
    const { size } = await handle.stat();
    if (size > maxBytes) throw new Error(`the file has more than ${maxBytes} bytes`);
    return await handle.readFile('utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw new Error(code === 'ENOENT' ? 'there is no such file' : 'the file cannot be read', {
      cause: undefined,
    });
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
