/**
 * Bearer tokens from a file, in the form of kube-apiserver's --token-auth-file: each line is
 * `token,user,uid[,"group1,group2"]`. The file holds secrets, so only its owner may be able to read it.
 */
import { readFile, stat } from 'node:fs/promises';
import type { TokenEntry } from '../../apiserver/authentication/bearer-token.ts';
import { errorMessage } from '../../base/log.ts';
import { UsageError } from '../../base/usage-error.ts';

/** Throws UsageError that names the invalid line; never shows a token. */
export async function readTokenFile(path: string): Promise<readonly TokenEntry[]> {
  let text: string;
  try {
    const { mode } = await stat(path);
    if ((mode & 0o077) !== 0) {
      throw new UsageError(
        `--token-auth-file: users other than its owner may read ${path}; run chmod 600 ${path}`,
      );
    }
    text = await readFile(path, 'utf8');
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`--token-auth-file: cannot read ${path} (${errorMessage(error)})`);
  }
  return parseTokens(text, path);
}

export function parseTokens(text: string, path: string): readonly TokenEntry[] {
  const entries: TokenEntry[] = [];
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue;
    const fields = fieldsOf(line);
    const [token, name, uid, groups = ''] = fields ?? [];
    if (!fields || fields.length > 4 || !token || !name || !uid) {
      throw new UsageError(`${path}:${index + 1}: expected token,user,uid or token,user,uid,"group1,group2"`);
    }
    if (entries.some((entry) => entry.token === token)) {
      throw new UsageError(`${path}:${index + 1}: the token of ${name} is also in an earlier line`);
    }
    entries.push({ token, user: { name, uid, groups: groups.split(',').filter((group) => group !== '') } });
  }
  return entries;
}

/**
 * Returns the comma-separated fields of a line, each of which may be in double quotes; undefined if the
 * quotes do not match.
 */
function fieldsOf(line: string): readonly string[] | undefined {
  const fields: string[] = [];
  const field = /\s*(?:"((?:[^"]|"")*)"|([^",]*))\s*(,|$)/y;
  for (;;) {
    const match = field.exec(line);
    if (!match) return undefined;
    fields.push((match[1]?.replaceAll('""', '"') ?? match[2] ?? '').trim());
    if (match[3] === '') return fields;
  }
}
