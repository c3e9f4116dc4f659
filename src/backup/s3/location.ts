/** Locations in buckets: `s3://BUCKET/PREFIX` for a folder of backups, `s3://BUCKET/KEY` for one backup. */

export interface BucketLocation {
  readonly bucket: string;
  /** Key of an object, or the prefix of a folder without the slash at its end; empty for the whole bucket. */
  readonly key: string;
}

const scheme = 's3://';

/** Returns whether a text is meant as a location in a bucket. */
export const isBucketLocation = (text: string): boolean => /^s3:/i.test(text);

/** Reads a location. Throws an Error whose message says what is expected. */
export function parseBucketLocation(text: string): BucketLocation {
  const expected = `expected ${scheme}BUCKET or ${scheme}BUCKET/PREFIX`;
  if (!text.startsWith(scheme)) throw new Error(expected);
  const [bucket = '', ...segments] = text.slice(scheme.length).replace(/\/$/, '').split('/');
  // The name is part of a host name or of a path.
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket) || bucket.includes('..'))
    throw new Error(`${expected}; a bucket has 3 to 63 lower-case letters, digits, dots and hyphens`);
  for (const segment of segments)
    if (segment === '' || segment === '.' || segment === '..' || /[\p{Cc}\\?#]/u.test(segment))
      throw new Error(`${expected}, without empty parts, "." and "..", and without any of \\ ? #`);
  const key = segments.join('/');
  if (Buffer.byteLength(key) > maxKeyBytes) throw new Error(`${expected} of at most ${maxKeyBytes} bytes`);
  return { bucket, key };
}

/** Maximum length of a prefix or key, so that a key of S3 (1,024 bytes) also has room for the file's name. */
const maxKeyBytes = 960;

export const formatBucketLocation = ({ bucket, key }: BucketLocation): string =>
  `${scheme}${bucket}${key === '' ? '' : `/${key}`}`;

/** Returns the location of an object in a folder. */
export const locationIn = ({ bucket, key }: BucketLocation, name: string): BucketLocation => ({
  bucket,
  key: key === '' ? name : `${key}/${name}`,
});
