/** Readers of the settings of backups. */
import { formatBucketLocation, isBucketLocation, parseBucketLocation } from '../../backup/s3/location.ts';
import { directory } from '../../settings/readers.ts';

/** Reads the path of a directory, or the location of a folder in a bucket. */
export const backupPlace = (value: string): string =>
  isBucketLocation(value) ? formatBucketLocation(parseBucketLocation(value)) : directory(value);

/** Reads the URL of an S3 service. */
export function serviceUrl(value: string): URL {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (
    !url ||
    !['http:', 'https:'].includes(url.protocol) ||
    url.username ||
    url.password ||
    url.search ||
    url.hash
  )
    throw new Error('expected a URL without user, query and fragment, such as https://s3.example.com');
  return url;
}

export function regionName(value: string): string {
  if (!/^[a-z0-9-]{1,64}$/.test(value)) throw new Error('expected a region such as eu-central-1');
  return value;
}
