/** The URL of a bucket and of its objects. */
import type { BucketLocation } from './location.ts';

export interface EndpointSettings {
  /** URL of the service; undefined: that of AWS. */
  readonly endpoint: URL | undefined;
  readonly region: string;
  /** True if the bucket is in the path of URLs, false if it is in their host name. */
  readonly pathStyle: boolean;
}

/** Returns the URL of an object, or of the bucket for an empty key. */
export function objectUrl(
  { endpoint, region, pathStyle }: EndpointSettings,
  { bucket, key }: BucketLocation,
  query: Readonly<Record<string, string>> = {},
): URL {
  const url = new URL(endpoint ?? `https://s3.${region}.amazonaws.com`);
  const base = url.pathname.replace(/\/$/, '');
  if (!pathStyle) url.hostname = `${bucket}.${url.hostname}`;
  const path = key.split('/').map(encoded).join('/');
  url.pathname = pathStyle ? `${base}/${bucket}/${path}` : `${base}/${path}`;
  // A signature covers a blank as %20, not as the plus sign of forms.
  url.search = Object.entries(query)
    .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
    .join('&');
  return url;
}

const encoded = (text: string) =>
  encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
