/** The directives of nginx for the policy of a route. Pure. */
import type { Cors } from './match.ts';
import { quotedLiteral } from './quote.ts';
import { defaultMaxBodyBytes, type Policy } from './site.ts';

/** Returns the directives that differ from the defaults. */
export function policyLines(policy: Policy): readonly string[] {
  const { maxBodyBytes = defaultMaxBodyBytes, allow = [], deny = [] } = policy;
  return [
    ...(maxBodyBytes === defaultMaxBodyBytes ? [] : [`client_max_body_size ${whole(maxBodyBytes)};`]),
    ...timeoutLines('connect', policy.connectTimeoutSeconds),
    ...timeoutLines('send', policy.sendTimeoutSeconds),
    ...timeoutLines('read', policy.readTimeoutSeconds),
    ...switchLine('proxy_buffering', policy.buffersAnswers),
    ...switchLine('proxy_request_buffering', policy.buffersBodies),
    ...deny.map((range) => `deny ${checkedRange(range)};`),
    ...allow.map((range) => `allow ${checkedRange(range)};`),
    ...(allow.length > 0 ? ['deny all;'] : []),
  ];
}

function timeoutLines(name: string, seconds: number | undefined): readonly string[] {
  if (seconds === undefined) return [];
  return ['proxy', 'grpc'].map((module) => `${module}_${name}_timeout ${whole(seconds)}s;`);
}

const switchLine = (name: string, value: boolean | undefined) =>
  value === undefined ? [] : [`${name} ${value ? 'on' : 'off'};`];

function whole(value: number): number {
  if (!Number.isSafeInteger(value) || value < 0)
    throw new Error('a number of the configuration is not a whole number');
  return value;
}

function checkedRange(range: string): string {
  if (!/^[0-9a-fA-F:.]+(?:\/\d{1,3})?$/.test(range))
    throw new Error('a range of the configuration is not a range of addresses');
  return range;
}

/** Returns the headers for requests of other origins, and the answer to a browser's preflight request. */
export function corsLines({ origins, methods, headers, allowsCredentials, maxAgeSeconds }: Cors): string[] {
  const all = origins.includes('*');
  const allowed = all
    ? ["set $minik8s_origin '*';"]
    : [
        "set $minik8s_origin '';",
        ...origins.map(
          (origin) =>
            `if ($http_origin = ${quotedLiteral(origin)}) {\n        set $minik8s_origin $http_origin;\n      }`,
        ),
      ];
  // A browser accepts no credentials together with every origin.
  const credentials =
    allowsCredentials && !all ? ['add_header Access-Control-Allow-Credentials true always;'] : [];
  return [
    ...allowed,
    'add_header Access-Control-Allow-Origin $minik8s_origin always;',
    `add_header Access-Control-Allow-Methods ${quotedLiteral(methods)} always;`,
    `add_header Access-Control-Allow-Headers ${quotedLiteral(headers)} always;`,
    `add_header Access-Control-Max-Age ${whole(maxAgeSeconds)} always;`,
    ...(all ? [] : ['add_header Vary Origin always;']),
    ...credentials,
    'if ($request_method = OPTIONS) {\n        return 204;\n      }',
  ];
}
