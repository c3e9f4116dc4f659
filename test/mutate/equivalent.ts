/** Changes that change nothing: no test can notice them. Each with its reason. */
import type { Mutant } from './mutants.ts';

export interface Equivalent {
  readonly file: string;
  /** The line of the source where the change begins, trimmed. */
  readonly line: string;
  /** As a run prints it. */
  readonly change: string;
  readonly because: string;
}

export const equivalents: readonly Equivalent[] = [
  ...['a < b → a <= b', 'a > b → true', 'a > b → a >= b', '1 → 2', '0 → 1'].map((change) => ({
    file: 'src/proxy/render.ts',
    line: 'const byCodeUnit = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);',
    change,
    because:
      'keys of a Map or Set are compared, of which no two are the same; of the answer only the sign counts',
  })),
  ...['a.name < b.name → a.name <= b.name', '1 → 2'].map((change) => ({
    file: 'src/kubelet/plan/service-variables.ts',
    line: 'const sorted = [...byName.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));',
    change,
    because: 'keys of a Map are compared, of which no two are the same; of the answer only the sign counts',
  })),
  {
    file: 'src/kubelet/plan/kernel-files.ts',
    line: 'return Number.isFinite(limit) && limit < 2 ** 60 ? limit : undefined;',
    change: 'Number.isFinite(limit) && limit < 2 ** 60 → (limit < 2 ** 60)',
    because: 'neither NaN nor Infinity is less than a number; a limit is never below zero',
  },
  ...[
    {
      file: 'src/apiserver/authorization/authorizer.ts',
      line: "request.type === 'resource' &&",
      change: "request.type === 'resource' && request.verb === 'create' → (request.verb === 'create')",
    },
    {
      file: 'src/apiserver/authorization/node-bootstrapper.ts',
      line: "request.type === 'resource' && asks(request.user) && mayRequest(request, requesterOf);",
      change: "request.type === 'resource' && asks(request.user) → (asks(request.user))",
    },
    {
      file: 'src/apiserver/authorization/node-authorizer.ts',
      line: "if (node === undefined || request.type !== 'resource') return false;",
      change: "node === undefined || request.type !== 'resource' → (node === undefined)",
    },
  ].map((mutant) => ({
    ...mutant,
    because:
      'a request for a path has no group and no resource, so that it fits no rule; the types want the check',
  })),
  ...['parseIPv4(ip) ?? -1 → (parseIPv4(ip))', '1 → 2'].map((change) => ({
    file: 'src/apiserver/registry/address-range.ts',
    line: 'const position = (parseIPv4(ip) ?? -1) - range.first;',
    change,
    because: 'what is no address has the position NaN, or one below zero: neither is in the range',
  })),
  ...[
    [
      'if (clusterIP && isTaken(ipClaim(clusterIP))) {',
      'clusterIP && isTaken(ipClaim(clusterIP)) → (isTaken(ipClaim(clusterIP)))',
    ],
    [
      'if (nodePort && isTaken(portClaim(nodePort))) {',
      'nodePort && isTaken(portClaim(nodePort)) → (isTaken(portClaim(nodePort)))',
    ],
  ].map(([line = '', change = '']) => ({
    file: 'src/apiserver/registry/service-claims.ts',
    line,
    change,
    because: 'there is no claim of an address or a port that is not there, so nobody can have it',
  })),
  {
    file: 'src/apiserver/registry/service-claims.ts',
    line: 'if (needsIP(spec) && clusterIP && clusterIP !== previous?.clusterIP) {',
    change: 'needsIP(spec) && clusterIP → (needsIP(spec))',
    because: 'a Service that needs an address has been given one; the types do not know',
  },
  {
    file: 'src/apiserver/registry/service-claims.ts',
    line: 'for (let step = 0; step < size; step++) {',
    change: 'step < size → step <= size',
    because: 'after the last comes the first again, which was busy',
  },
  ...[
    ['Object.entries(subresourcesOf(definition)).sort(([a], [b]) => (a < b ? -1 : 1));', 'a < b → a <= b'],
    ['Object.entries(subresourcesOf(definition)).sort(([a], [b]) => (a < b ? -1 : 1));', '1 → 2'],
    [
      'const byName = [...members].sort((a, b) => (a.plural < b.plural ? -1 : 1));',
      'a.plural < b.plural → a.plural <= b.plural',
    ],
    ['const byName = [...members].sort((a, b) => (a.plural < b.plural ? -1 : 1));', '1 → 2'],
  ].map(([line = '', change = '']) => ({
    file: 'src/apiserver/discovery/resources.ts',
    line,
    change,
    because: 'no two of one kind, or of one version, have the same name; of the answer only the sign counts',
  })),
];

/** Those of a file: which of its mutants they are, and which of them are of none, since the source has changed. */
export function matchEquivalents(
  file: string,
  source: string,
  mutants: readonly Mutant[],
  list: readonly Equivalent[],
): { readonly matched: ReadonlySet<Mutant>; readonly stale: readonly Equivalent[] } {
  const lines = source.split('\n');
  const matched = new Set<Mutant>();
  const stale = list.filter((entry) => {
    if (entry.file !== file) return false;
    const found = mutants.filter(
      ({ line, change }) => change === entry.change && lines[line - 1]?.trim() === entry.line,
    );
    for (const mutant of found) matched.add(mutant);
    return found.length === 0;
  });
  return { matched, stale };
}
