/** Answers to scripts of other origins (CORS), in locations of rules. Pure. */
import { escaped } from './render-conditions.ts';
import type { CrossOrigin } from './rule.ts';
import { quotedText, type Variables } from './variables.ts';

const responseHeaders = [
  ...['Allow-Origin', 'Allow-Credentials', 'Allow-Methods', 'Allow-Headers', 'Expose-Headers', 'Max-Age'],
].map((name) => `Access-Control-${name}`);

/**
 * Returns the lines that answer preflight requests, and that add the headers to other answers. Only allowed
 * origins get the headers; those of the backend are dropped, since a browser rejects two.
 */
export function crossOriginLines(rule: CrossOrigin, variables: Variables): readonly string[] {
  const { methods, headers, exposed, allowsCredentials, maxAgeSeconds } = rule;
  const origin = variables.map('$http_origin', [
    { pattern: originsPattern(rule.origins), value: '$http_origin' },
  ]);
  const preflight = variables.map('"$request_method|$http_origin|$http_access_control_request_method"', [
    { pattern: '^OPTIONS\\|[^|]+\\|[^|]+$', value: '1' },
  ]);
  const always = (value: string) => variables.map(origin, [{ pattern: '.', value }]);
  const inPreflight = (value: string) =>
    variables.map(`"${preflight}|${origin}"`, [{ pattern: '^1\\|.', value }]);
  // A browser takes a star literally where credentials are allowed.
  const exposes = exposed.length > 0 && !(allowsCredentials && exposed.includes('*'));
  const values: readonly (readonly [string, string | undefined])[] = [
    ['Allow-Origin', origin],
    ['Allow-Credentials', allowsCredentials ? always('true') : undefined],
    ['Expose-Headers', exposes ? always(quotedText(exposed.join(', '))) : undefined],
    ['Allow-Methods', listed(methods, '$http_access_control_request_method', inPreflight)],
    ['Allow-Headers', listed(headers, '$http_access_control_request_headers', inPreflight)],
    ['Max-Age', inPreflight(String(whole(maxAgeSeconds)))],
  ];
  return [
    ...responseHeaders.map((name) => `proxy_hide_header ${name};`),
    ...values.flatMap(([name, value]) =>
      value === undefined ? [] : [`add_header Access-Control-${name} ${value} always;`],
    ),
    'add_header Vary Origin always;',
    `if (${preflight}) {\n        return 204;\n      }`,
  ];
}

/** Returns a variable with the list; a star allows what the preflight request asks for. */
function listed(
  list: readonly string[],
  requested: string,
  inPreflight: (value: string) => string,
): string | undefined {
  if (list.length === 0) return undefined;
  return inPreflight(list.includes('*') ? requested : quotedText(list.join(', ')));
}

const originsPattern = (origins: readonly string[]) =>
  origins.includes('*') ? '.' : `^(?:${origins.map(originPattern).join('|')})$`;

const defaultPorts: Readonly<Record<string, string>> = { http: '80', https: '443' };

/** A star stands for one or more labels; alone it stands for every host. */
function originPattern(origin: string): string {
  const [, scheme = '', star = '', host = '', port = defaultPorts[scheme]] =
    /^(https?):\/\/(\*\.|\*$|\*(?=:))?([^:*]*)(?::(\d+))?$/.exec(origin.toLowerCase()) ?? [];
  if (scheme === '' || (host === '') !== (star === '*'))
    throw new Error('an origin of the configuration is not an origin');
  const name = star === '*' ? anyHost : `${star === '' ? '' : '[a-z0-9.-]+\\.'}${escaped(host)}`;
  return `${scheme}://${name}${port === defaultPorts[scheme] ? `(?::${port})?` : `:${port}`}`;
}

const anyHost = '(?:[a-z0-9._-]+|\\[[0-9a-f:.]+\\])';

function whole(value: number): number {
  if (!Number.isSafeInteger(value) || value < 0)
    throw new Error('a number of the configuration is not a whole number');
  return value;
}
