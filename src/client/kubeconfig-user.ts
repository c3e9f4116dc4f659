/** The token of a user in a kubeconfig, and the user that its requests impersonate. */
import { UsageError } from '../base/usage-error.ts';
import { readOptional, type UserEntry } from './kubeconfig.ts';

/** The user that the requests of another user act as. */
export interface Impersonated {
  readonly user: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
}

/**
 * Returns the token of the file, or of the entry where the file cannot be read. Throws UsageError if the
 * user has a file alone, and it cannot be read.
 */
export function tokenOf({ token, tokenFile }: UserEntry): string | undefined {
  if (!tokenFile) return token;
  return token ? readToken(tokenFile, token) : readRequired(tokenFile).trim();
}

/** Returns the content of a file of a token that changes; `otherwise` if it has none now. */
export function readToken(file: string, otherwise: string): string {
  try {
    return readOptional(file)?.trim() || otherwise;
  } catch {
    // The token may be replaced at this moment.
    return otherwise;
  }
}

/**
 * Returns the user that the entry impersonates. Throws UsageError for groups or a UID without a user, and for
 * groups that are no texts.
 */
export function impersonatedBy(entry: UserEntry): Impersonated | undefined {
  const { as: user, 'as-uid': uid, 'as-groups': groups = [], 'as-user-extra': extra = {} } = entry;
  if (!isTexts(groups) || !Object.values(extra).every(isTexts))
    throw new UsageError('kubeconfig: as-groups, and each value of as-user-extra, must be a list of texts');
  if (user) return { user, ...(uid && { uid }), groups, extra };
  if (uid || groups.length > 0 || Object.keys(extra).length > 0)
    throw new UsageError('kubeconfig: as-uid, as-groups and as-user-extra need as: name the user to act as');
  return undefined;
}

const isTexts = (value: unknown): boolean =>
  Array.isArray(value) && value.every((text) => typeof text === 'string');

/** Returns the content of a file. Throws UsageError if there is no such file, or if it is empty. */
export function readRequired(file: string): string {
  const text = readOptional(file);
  if (text === undefined) throw new UsageError(`kubeconfig: ${file} does not exist`);
  if (text.trim() === '') throw new UsageError(`kubeconfig: ${file} is empty`);
  return text;
}
