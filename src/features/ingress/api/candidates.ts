/** The paths of one Ingress, from its rules and its default backend. Pure. */
import type { Ingress } from '../../../api/networking/v1/ingress.ts';
import type { Annotations } from './annotations.ts';
import type { Candidate } from './candidate.ts';
import { groupsOf, patternProblem } from './path-pattern.ts';
import { pathProblem, withoutSlash } from './plain-path.ts';
import type { Problem } from './problem.ts';

interface Candidates {
  readonly candidates: readonly Candidate[];
  readonly problems: readonly Problem[];
}

type Rule = NonNullable<Ingress['spec']['rules']>[number];
type RulePath = NonNullable<Rule['http']>['paths'][number];

export function candidatesOf({ spec }: Ingress, annotations: Annotations): Candidates {
  const candidates: Candidate[] = [];
  const problems: Problem[] = [];
  for (const { host = '', http } of spec.rules ?? []) {
    for (const path of http?.paths ?? []) {
      const match = matchOf(path, annotations);
      if ('message' in match) problems.push(match);
      else candidates.push({ host: host.toLowerCase(), match, backend: path.backend, isDefault: false });
    }
  }
  return { candidates: [...candidates, ...defaultsOf(spec)], problems };
}

/** The default backend serves the other paths of the hosts; without rules it serves every other host. */
function defaultsOf({ rules = [], defaultBackend }: Ingress['spec']): readonly Candidate[] {
  if (!defaultBackend) return [];
  const hosts = rules.length === 0 ? [''] : [...new Set(rules.map(({ host = '' }) => host.toLowerCase()))];
  const match = { type: 'Prefix', path: '/' } as const;
  return hosts.map((host) => ({ host, match, backend: defaultBackend, isDefault: true }));
}

function matchOf({ path = '', pathType }: RulePath, annotations: Annotations): Candidate['match'] | Problem {
  const full = path === '' ? '/' : path;
  if (pathType !== 'Exact' && isPattern(full, annotations)) return patternOf(full, annotations);
  const why = pathProblem(full);
  if (why) return notServed(`path ${JSON.stringify(full)} is not served: it ${why}`);
  return pathType === 'Exact' ? { type: 'Exact', path: full } : { type: 'Prefix', path: withoutSlash(full) };
}

/** Returns true for a pattern: any path with use-regex; with rewrite-target, one with special characters. */
const isPattern = (path: string, annotations: Annotations) =>
  annotations['use-regex'] === true ||
  (annotations['rewrite-target'] !== undefined && /[$()[\]{}*+?|\\^]/.test(path));

function patternOf(path: string, annotations: Annotations): Candidate['match'] | Problem {
  const why = patternProblem(path);
  if (why) return notServed(`pattern ${JSON.stringify(path)} is not served: it ${why}`);
  const used = [...(annotations['rewrite-target'] ?? '').matchAll(/\$(\d)/g)].map(([, digit]) =>
    Number(digit),
  );
  const groups = groupsOf(path);
  if (used.some((group) => group > groups))
    return notServed(
      `pattern ${JSON.stringify(path)} is not served: rewrite-target uses more than its ${groups} groups`,
    );
  return { type: 'Regex', path };
}

const notServed = (message: string): Problem => ({ reason: 'PathNotServed', message });
