/** The version that the executable prints. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Digits of a commit: git's own number of digits depends on how much a clone contains. */
const commitDigits = 12;

/**
 * Returns package.json's version, with the commit unless the commit has the version's tag:
 * `0.1.0+g1a2b3c4d5e6f.dirty`.
 */
export async function buildVersion(root: string): Promise<string> {
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
  const git = async (...args: string[]) => (await run('git', args, { cwd: root })).stdout.trim();
  try {
    const dirty = (await git('status', '--porcelain', '--untracked-files=no')) === '' ? '' : '.dirty';
    if (dirty === '' && (await git('tag', '--points-at', 'HEAD')).split('\n').includes(`v${version}`)) {
      return version;
    }
    return `${version}+g${(await git('rev-parse', 'HEAD')).slice(0, commitDigits)}${dirty}`;
  } catch {
    // An unpacked archive has no commit, nor has a machine without git.
    return version;
  }
}
