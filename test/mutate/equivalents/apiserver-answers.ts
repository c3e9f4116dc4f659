/** Answers of the API server: subresources, /proxy, tables, lists, health. */
import type { Equivalent } from '../equivalent.ts';

type Lines = readonly (readonly [line: string, change: string])[];

const of = (name: string, because: string, lines: Lines): Equivalent[] =>
  lines.map(([line, change]) => ({ file: `src/${name}`, line, change, because }));

export const apiserverAnswers: readonly Equivalent[] = [
  ...of('apiserver/subresources/scale.ts', 'it is only told to admission, which has nothing on workloads', [
    ["subresource: 'scale',", "'scale' → ''"],
  ]),
  ...of('apiserver/subresources/scale.ts', 'only kinds with a scale have the subresource', [
    [`if (!scale) throw newInternalError(\`\${plural} have no scale\`);`, '!scale → false'],
  ]),
  ...of('kube-apiserver/subresources/pod-agent.ts', 'a pod has a container; the compiler asks', [
    [
      'if (regular.length === 1 && regular[0]) return regular[0];',
      'regular.length === 1 && regular[0] → (regular.length === 1)',
    ],
  ]),
  ...of('kube-apiserver/subresources/pod-agent.ts', 'a pod has a namespace; only the type does not say so', [
    [
      "return [metadata.namespace ?? '', metadata.name, ...more].map(encodeURIComponent).join('/');",
      "metadata.namespace ?? '' → (metadata.namespace)",
    ],
    [
      "return [metadata.namespace ?? '', metadata.name, ...more].map(encodeURIComponent).join('/');",
      "'' → 'mutated'",
    ],
  ]),
  ...of('kube-apiserver/forwarding/headers.ts', 'who wants an upgrade has said which', [
    [
      "? { connection: 'Upgrade', upgrade: headers.get('upgrade') ?? '' }",
      "headers.get('upgrade') ?? '' → (headers.get('upgrade'))",
    ],
    ["? { connection: 'Upgrade', upgrade: headers.get('upgrade') ?? '' }", "'' → 'mutated'"],
  ]),
  ...of(
    'apiserver/transport/streamed-answer.ts',
    'names and values come in pairs',
    [
      'i + 1 < fields.length → i + 1 <= fields.length',
      "fields[i] ?? '' → (fields[i])",
      "fields[i + 1] ?? '' → (fields[i + 1])",
      "'' → 'mutated'",
    ].map((change) => [
      "for (let i = 0; i + 1 < fields.length; i += 2) headers.append(fields[i] ?? '', fields[i + 1] ?? '');",
      change,
    ]),
  ),
  ...of('kube-apiserver/forwarding/headers.ts', 'only the first part is taken', [
    ["const type = all.get('content-type')?.split(';', 1)[0]?.trim().toLowerCase();", '1 → 2'],
  ]),
  ...of(
    'kube-apiserver/forwarding/links.ts',
    'the pattern fits every text, and these two parts of it are always there',
    ["'' → 'mutated'", 'reference.exec(link) ?? [] → (reference.exec(link))'].map((change) => [
      "const [, scheme, host, path = '', more = ''] = reference.exec(link) ?? [];",
      change,
    ]),
  ),
  ...of('kube-apiserver/proxy/location.ts', 'those that come twice were of no use the first time', [
    [
      'for (const { endpoint, port } of [...candidates.slice(first), ...candidates.slice(0, first)]) {',
      'candidates.slice(0, first) → candidates',
    ],
  ]),
  ...of('kube-apiserver/proxy/location.ts', 'neither is an address', [
    ["const canonical = canonicalAddress(address ?? '');", "'' → 'mutated'"],
  ]),
  ...of('kube-apiserver/proxy/rewrite-html.ts', 'what is kept beyond need only costs memory', [
    ['const maxNameLength = 32;', '32 → 33'],
    [
      'this.#text = this.#text.slice(-maxNameLength) + piece;',
      'this.#text.slice(-maxNameLength) → this.#text',
    ],
  ]),
  ...of(
    'kube-apiserver/proxy/rewrite-html.ts',
    'the name of an element, or of an attribute, comes first and sets it',
    [
      ["#element = '';", "'' → 'mutated'"],
      ['#isLink = false;', 'false → true'],
    ],
  ),
  ...of('kube-apiserver/proxy/rewrite-html.ts', 'undefined is as good as false', [
    [
      'this.#isLink = wanted?.includes(this.#name(start, end)) ?? false;',
      'wanted?.includes(this.#name(start, end)) ?? false → (wanted?.includes(this.#name(start, end)))',
    ],
  ]),
  ...of('kube-apiserver/proxy/forward.ts', 'an answer that was read has a status', [
    ['const status = answer.statusCode ?? 0;', 'answer.statusCode ?? 0 → (answer.statusCode)'],
    ['const status = answer.statusCode ?? 0;', '0 → 1'],
  ]),
  ...of('apiserver/health.ts', 'only the paths of the three come here', [
    ["const [, endpoint = '', one] = url.pathname.split('/');", "'' → 'mutated'"],
    [
      'const known = checks[endpoint] ?? new Map<string, Check>();',
      'checks[endpoint] ?? new Map<string, Check>() → (checks[endpoint])',
    ],
  ]),
  ...of('apiserver/health.ts', 'a function that ends returns undefined', [
    ['return undefined;', 'return undefined; → ;'],
  ]),
  ...of('apiserver/openapi.ts', 'neither is a media type', [
    ["const ranges = parseAccept(request.headers.get('accept') ?? '');", "'' → 'mutated'"],
  ]),
  ...of('kube-apiserver/event-rate.ts', 'a tenth of a second is the longest there is to wait', [
    ['const retryAfterSeconds = Math.ceil(waitMs / 1000);', '1000 → 1001'],
  ]),
  ...of('apiserver/encoding/collection-body.ts', 'it is set before it is read', [
    ['done = false;', 'false → true'],
  ]),
  ...of('apiserver/encoding/collection-body.ts', 'no bytes more', [
    ["if (text !== '') buffers.push(Buffer.from(text));", "text !== '' → true"],
    ["if (text !== '') buffers.push(Buffer.from(text));", "'' → 'mutated'"],
  ]),
  ...of('apiserver/verbs/list.ts', 'JSON has no undefined', [
    [
      '...(page.remaining !== undefined && { remainingItemCount: page.remaining }),',
      'page.remaining !== undefined && { remainingItemCount: page.remaining } → ({ remainingItemCount: page.remaining })',
    ],
  ]),
];
