/** Rights of the user, by SelfSubjectRulesReviews: pages hide what would be refused. */
import { type Signal, signal } from '@preact/signals';
import { type AccessRules, allows } from './plan/access-rules.ts';
import type { ApiKind } from './plan/discovery.ts';
import { sendJson } from './request.ts';

/** A namespace that does not exist: its rules are those that apply in every namespace. */
const nowhere = 'minik8s-dashboard-no-namespace';

interface Rules {
  readonly rules: Signal<AccessRules | undefined>;
  /** Resolves when the rules are known or could not be read. */
  readonly isLoaded: Promise<void>;
}

const byNamespace = new Map<string, Rules>();

/** Number of reviews that were answered. Values that depend on rights are computed again when it changes. */
export const rulesVersion = signal(0);

interface RulesReview {
  readonly status?: AccessRules;
}

/** Returns the rules in a namespace, '' for those of all namespaces; undefined until they are known. */
export const rulesIn = (namespace: string): Signal<AccessRules | undefined> => rulesOf(namespace).rules;

/** Resolves when the rules of namespaces are known, or could not be read: nothing is allowed then. */
export async function rulesKnown(namespaces: readonly string[]): Promise<void> {
  await Promise.all(['', ...namespaces].map((namespace) => rulesOf(namespace).isLoaded));
}

function rulesOf(namespace: string): Rules {
  const known = byNamespace.get(namespace);
  if (known) return known;
  const rules = signal<AccessRules | undefined>(undefined);
  const made = { rules, isLoaded: loadRules(namespace, rules) };
  byNamespace.set(namespace, made);
  return made;
}

async function loadRules(namespace: string, rules: Signal<AccessRules | undefined>): Promise<void> {
  try {
    const review = await sendJson<RulesReview>(
      'POST',
      '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews',
      {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SelfSubjectRulesReview',
        spec: { namespace: namespace || nowhere },
      },
    );
    rules.value = review.status ?? {};
    rulesVersion.value++;
  } catch {
    // Without rules nothing is offered; the next reader requests them again.
    byNamespace.delete(namespace);
  }
}

/**
 * Returns whether the user may use a verb on a kind: in a namespace, or, for '' and for kinds of the cluster,
 * everywhere. `name` and `subresource` narrow the question. False until the rules are known.
 */
export function may(
  verb: string,
  kind: ApiKind,
  namespace = '',
  { name = '', subresource = '' }: { readonly name?: string; readonly subresource?: string } = {},
): boolean {
  const action = { verb, group: kind.group, plural: kind.plural, subresource, name };
  const isAllowed = (rules: AccessRules | undefined) => rules !== undefined && allows(rules, action);
  return (
    isAllowed(rulesIn('').value) ||
    (kind.namespaced && namespace !== '' && isAllowed(rulesIn(namespace).value))
  );
}
