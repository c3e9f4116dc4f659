/** Signatures of requests to S3 (AWS Signature Version 4), by the package aws4fetch. */
import { AwsV4Signer } from 'aws4fetch';
import type { Credentials } from './credentials.ts';

export interface Unsigned {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  /** SHA-256 digest of the body in hexadecimal digits; the server compares it with the body. */
  readonly bodyDigest: string;
}

/** Returns the headers of the signed request, without Host. `now` is in milliseconds since the Unix epoch. */
export async function signedHeaders(
  { method, url, headers, bodyDigest }: Unsigned,
  credentials: Credentials,
  region: string,
  now: number,
): Promise<Record<string, string>> {
  const { accessKeyId, secretAccessKey, sessionToken } = credentials;
  const signer = new AwsV4Signer({
    ...{ method, url: url.href, accessKeyId, secretAccessKey, region, service: 's3' },
    ...(sessionToken !== undefined && { sessionToken }),
    headers: { ...headers, 'x-amz-content-sha256': bodyDigest },
    datetime: new Date(now).toISOString().replaceAll(/[:-]|\.\d{3}/g, ''),
  });
  const signed = await signer.sign();
  return Object.fromEntries(signed.headers);
}
