/** The endpoint for spans, from --tracing-endpoint and OTEL_EXPORTER_OTLP_ENDPOINT. Pure. */

const path = '/v1/traces';

/**
 * Returns the URL that spans are sent to: OTLP's path is appended to the endpoint's path. Throws an Error
 * that describes the expected URL.
 */
export function tracesUrl(endpoint: string): URL {
  const url = URL.parse(endpoint);
  const isPlain = url && url.username === '' && url.password === '' && !/[?#\s]/.test(endpoint);
  if (!isPlain || !/^https?:$/.test(url.protocol) || url.host === '')
    throw new Error('expected a URL such as http://127.0.0.1:4318, without a password');
  const own = url.pathname.replace(/\/+$/, '');
  url.pathname = own.endsWith(path) ? own : `${own}${path}`;
  return url;
}
