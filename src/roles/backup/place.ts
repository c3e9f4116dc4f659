/** Places of backups by the settings: a directory or a bucket, and the file or object of one backup. */
import { readFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { BackupError } from '../../backup/manifest.ts';
import { bucketStore, objectSource } from '../../backup/s3/bucket-store.ts';
import { S3Client } from '../../backup/s3/client.ts';
import { readCredentials } from '../../backup/s3/credentials.ts';
import { isBucketLocation, parseBucketLocation } from '../../backup/s3/location.ts';
import { type BackupSource, fileSource } from '../../backup/source.ts';
import { type BackupStore, folderStore } from '../../backup/store.ts';
import type { Clock } from '../../base/clock.ts';
import { errorMessage } from '../../base/log.ts';
import type { Random } from '../../base/random.ts';
import { UsageError } from '../../base/usage-error.ts';
import type { SettingValues } from '../../settings/definition.ts';
import type { bucketSettings } from '../settings/backup-settings.ts';

type BucketSettings = SettingValues<typeof bucketSettings>;

export interface PlaceOptions {
  readonly settings: BucketSettings;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly random: Random;
}

/**
 * Returns the store of a path or of a location in a bucket. Rejects with UsageError if the settings of the
 * bucket do not fit together, or its credentials cannot be read. Sends no request to the bucket.
 */
export async function openStore(place: string, options: PlaceOptions): Promise<BackupStore> {
  if (!isBucketLocation(place)) return folderStore(place);
  return bucketStore(await clientFor(options), parseBucketLocation(place));
}

export interface OpenedBackup {
  readonly source: BackupSource;
  /** Directory of the file; undefined for an object. */
  readonly directory: string | undefined;
}

/**
 * Returns the source of the backup with that path or location. Rejects with BackupError if there is no such
 * file.
 */
export async function openBackup(
  file: string,
  options: PlaceOptions,
  signal: AbortSignal,
): Promise<OpenedBackup> {
  if (isBucketLocation(file)) {
    const location = objectLocation(file);
    return { source: objectSource(await clientFor(options), location, signal), directory: undefined };
  }
  const path = resolve(file);
  const isFile = await stat(path).then(
    (stats) => stats.isFile(),
    () => false,
  );
  if (!isFile) throw new BackupError(`there is no file ${path}; minik8s backup list shows the backups`);
  return { source: fileSource(path), directory: dirname(path) };
}

function objectLocation(text: string) {
  try {
    const location = parseBucketLocation(text);
    if (location.key === '') throw new Error('it names a bucket, not a backup in it');
    return location;
  } catch (error) {
    throw new UsageError(
      `${JSON.stringify(text)}: ${errorMessage(error)}; minik8s backup list shows the backups`,
    );
  }
}

async function clientFor({ settings, environment, clock, random }: PlaceOptions): Promise<S3Client> {
  const endpoint = settings['backup-s3-endpoint'];
  const file = settings['backup-s3-credentials-file'];
  if (endpoint?.protocol === 'http:' && settings['backup-s3-plain-http'] !== 'true')
    throw new UsageError(
      `--backup-s3-endpoint: ${endpoint.origin} is without TLS, so others could read and change the backups: give an https URL, or --backup-s3-plain-http true`,
    );
  const credentials = () => readCredentials(file, environment);
  // Reads the credentials now, so that a mistake is reported at the start and not by the first backup.
  await credentials();
  const pathStyle = settings['backup-s3-path-style'] ?? (endpoint ? 'true' : 'false');
  return new S3Client({
    ...{ endpoint, region: settings['backup-s3-region'], pathStyle: pathStyle === 'true' },
    ...{ credentials, ca: authorityIn(settings['backup-s3-ca-file']), clock, random },
  });
}

function authorityIn(file: string | undefined): string | undefined {
  if (file === undefined) return undefined;
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw new UsageError(`--backup-s3-ca-file: cannot read ${file} (${errorMessage(error)})`);
  }
  if (!text.includes('-----BEGIN CERTIFICATE-----'))
    throw new UsageError(`--backup-s3-ca-file: ${file} has no certificate in PEM`);
  return text;
}
