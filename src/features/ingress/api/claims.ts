/**
 * The paths of all Ingresses, by host: which Ingress has which path. Pure. The oldest Ingress keeps a path
 * that several have, so that an editor of one namespace cannot take what another namespace serves.
 */
import type { Ingress } from '../../../api/networking/v1/ingress.ts';
import { type Annotations, readAnnotations } from './annotations.ts';
import type { Candidate } from './candidate.ts';
import { candidatesOf } from './candidates.ts';
import { byAge } from './classes.ts';
import type { Problem } from './problem.ts';

export const maxPathsOfNamespace = 5000;

export interface Claim extends Candidate {
  readonly ingress: Ingress;
  readonly annotations: Annotations;
  /** True if the Ingress must not be served: its paths answer 503. */
  readonly isRefused: boolean;
}

export interface Claims {
  readonly byHost: ReadonlyMap<string, readonly Claim[]>;
  /** Problems by the uid of the Ingress. */
  readonly problems: ReadonlyMap<string, readonly Problem[]>;
  /** Namespace of the oldest Ingress of each host, whose certificates the host has. */
  readonly holders: ReadonlyMap<string, string>;
}

/** `others`: hosts that Dns objects have. */
export function claimsOf(ingresses: readonly Ingress[], others: ReadonlySet<string>): Claims {
  const book = new Book(others);
  for (const ingress of ingresses.toSorted(byAge)) book.add(ingress);
  return book;
}

class Book implements Claims {
  readonly byHost = new Map<string, Claim[]>();
  readonly problems = new Map<string, Problem[]>();
  readonly holders = new Map<string, string>();
  readonly #others: ReadonlySet<string>;
  /** Owner of each path, by host and path. */
  readonly #owners = new Map<string, Claim>();
  readonly #counts = new Map<string, number>();

  constructor(others: ReadonlySet<string>) {
    this.#others = others;
  }

  add(ingress: Ingress): void {
    const { namespace = '', uid } = ingress.metadata;
    const { values, problems, isRefused } = readAnnotations(ingress.metadata.annotations);
    const { candidates, problems: ofPaths } = candidatesOf(ingress, values);
    const all = [...problems, ...ofPaths];
    const count = (this.#counts.get(namespace) ?? 0) + candidates.length;
    if (count > maxPathsOfNamespace) {
      const message = `the Ingresses of a namespace may have ${maxPathsOfNamespace} paths together; the oldest are served`;
      this.problems.set(uid, [{ reason: 'TooManyPaths', message }]);
      return;
    }
    this.#counts.set(namespace, count);
    for (const candidate of candidates) {
      const problem = this.#claim({ ...candidate, ingress, annotations: values, isRefused });
      if (problem) all.push(problem);
    }
    this.problems.set(uid, all);
  }

  #claim(claim: Claim): Problem | undefined {
    const { host, match, ingress } = claim;
    const { namespace = '' } = ingress.metadata;
    if (this.#others.has(host))
      return { reason: 'PathTaken', message: `host ${host} is served for Dns objects, not for this Ingress` };
    const holder = this.holders.get(host) ?? namespace;
    if (match.type === 'Regex' && holder !== namespace)
      return {
        reason: 'PathTaken',
        message: `the pattern ${match.path} of host ${shown(host)} is not served: a pattern needs a host of its own namespace, and this one belongs to ${holder}`,
      };
    const owner = this.#ownerOf(claim);
    if (owner) return claim.isDefault ? undefined : taken(claim, owner);
    this.holders.set(host, holder);
    this.#owners.set(keyOf(host, match), claim);
    const list = this.byHost.get(host) ?? [];
    list.push(claim);
    this.byHost.set(host, list);
    return undefined;
  }

  /** Returns the claim that has the path: of the same type, or of any type in another namespace. */
  #ownerOf({ host, match, ingress }: Claim): Claim | undefined {
    const same = this.#owners.get(keyOf(host, match));
    if (same) return same;
    return (['Exact', 'Prefix'] as const)
      .flatMap((type) => [match.path, withOtherEnd(match.path)].map((path) => keyOf(host, { type, path })))
      .map((key) => this.#owners.get(key))
      .find((owner) => owner && owner.ingress.metadata.namespace !== ingress.metadata.namespace);
  }
}

const keyOf = (host: string, { type, path }: Candidate['match']) => `${host} ${type} ${path}`;
const withOtherEnd = (path: string) => (path.endsWith('/') ? path.slice(0, -1) : `${path}/`);
const shown = (host: string) => (host === '' ? '*' : host);

function taken({ host, match }: Claim, { ingress }: Claim): Problem {
  const { namespace, name } = ingress.metadata;
  return {
    reason: 'PathTaken',
    message: `path ${match.path} of host ${shown(host)} is served for the older Ingress ${namespace}/${name}`,
  };
}
