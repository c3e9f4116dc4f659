/**
 * Credentials for S3: from the variables that AWS' tools read, or from a file in the format of AWS' shared
 * credentials. They are never in an argument, and no message repeats one.
 */
import { readFile, stat } from 'node:fs/promises';
import { errorMessage } from '../../base/log.ts';
import { UsageError } from '../../base/usage-error.ts';

export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string | undefined;
}

type Environment = Readonly<Record<string, string | undefined>>;

const flag = '--backup-s3-credentials-file';

/**
 * Reads the file if there is one, otherwise the variables. Rejects with UsageError that says what is missing,
 * or that others may read the file.
 */
export async function readCredentials(
  file: string | undefined,
  environment: Environment,
): Promise<Credentials> {
  const profile = environment.AWS_PROFILE || 'default';
  if (file !== undefined) return inFile(await ownText(file), profile, file);
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = environment;
  if (!accessKeyId || !secretAccessKey)
    throw new UsageError(
      `no credentials for the bucket: give ${flag}, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY`,
    );
  return checked(
    { accessKeyId, secretAccessKey, sessionToken: environment.AWS_SESSION_TOKEN || undefined },
    'AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY or AWS_SESSION_TOKEN',
  );
}

async function ownText(file: string): Promise<string> {
  try {
    const { mode } = await stat(file);
    if ((mode & 0o077) !== 0)
      throw new UsageError(`${flag}: users other than its owner may read ${file}; run chmod 600 ${file}`);
    return await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`${flag}: cannot read ${file} (${errorMessage(error)})`);
  }
}

/** Reads one profile of a file. Throws UsageError that never shows a value. */
export function inFile(text: string, profile: string, file: string): Credentials {
  const values = profilesIn(text).get(profile);
  if (!values) throw new UsageError(`${flag}: ${file} has no profile [${profile}]`);
  const value = (name: string) => values.get(name) || undefined;
  const [accessKeyId, secretAccessKey] = ['aws_access_key_id', 'aws_secret_access_key'].map(value);
  if (accessKeyId === undefined || secretAccessKey === undefined)
    throw new UsageError(
      `${flag}: profile [${profile}] of ${file} needs aws_access_key_id and aws_secret_access_key`,
    );
  return checked(
    { accessKeyId, secretAccessKey, sessionToken: value('aws_session_token') },
    `${flag}: ${file}`,
  );
}

function profilesIn(text: string): ReadonlyMap<string, ReadonlyMap<string, string>> {
  const profiles = new Map<string, Map<string, string>>();
  let current: Map<string, string> | undefined;
  for (const line of text.split(/\r?\n/)) {
    const name = /^\s*\[\s*(.*?)\s*\]\s*$/.exec(line)?.[1];
    if (name !== undefined) {
      current = profiles.get(name) ?? new Map();
      profiles.set(name, current);
    }
    const [, key, value = ''] = /^\s*([^#;=\s[][^=]*?)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    if (key !== undefined) current?.set(key.toLowerCase(), value);
  }
  return profiles;
}

/** Throws UsageError for a value that no header can hold, such as one with a line break. */
function checked(credentials: Credentials, where: string): Credentials {
  for (const value of Object.values(credentials))
    if (value !== undefined && !/^[\x21-\x7e]+$/.test(value))
      throw new UsageError(`${where} has characters that credentials cannot have, such as spaces`);
  return credentials;
}
