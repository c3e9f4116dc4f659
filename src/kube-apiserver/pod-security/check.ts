/** Contract of a Pod Security check, with the messages of Kubernetes. */
import type {
  Container,
  EphemeralContainer,
  PodSecurityContext,
  PodSpec,
  SecurityContext,
} from '../../api/core/v1/types.gen.ts';

/** A pod, or the template of one. */
export interface PodLike {
  readonly metadata?: { readonly annotations?: Readonly<Record<string, string>> | undefined } | undefined;
  readonly spec: PodSpec;
}

export interface Violation {
  /** Text that is the same for all pods that violate the rule, in whatever way. */
  readonly reason: string;
  /** The violating part of this pod, and what to do; may be ''. */
  readonly detail: string;
}

/** Returns undefined for a pod that is allowed. */
export type Check = (pod: PodLike) => Violation | undefined;

/** Form of the rule since the minor version `since` of Kubernetes 1. */
export interface VersionedCheck {
  readonly since: number;
  readonly check: Check;
  /** Baseline checks that this one replaces. */
  readonly replaces?: readonly string[];
}

export interface PolicyCheck {
  /** Id of the check. Violations are sorted by it, those of baseline first. */
  readonly id: string;
  readonly level: 'baseline' | 'restricted';
  /** Versions, oldest first. */
  readonly versions: readonly VersionedCheck[];
}

type AnyContainer = Container | EphemeralContainer;

export const containersOf = ({ spec }: PodLike): readonly AnyContainer[] => [
  ...(spec.initContainers ?? []),
  ...spec.containers,
  ...(spec.ephemeralContainers ?? []),
];

/** Returns the names of the containers for which `holds` returns true, in order. */
export const namesWhere = (pod: PodLike, holds: (container: AnyContainer) => boolean): string[] =>
  containersOf(pod)
    .filter(holds)
    .map(({ name }) => name);

/** Returns `"a", "b"`. */
export const quoted = (texts: readonly string[]): string => `"${texts.join('", "')}"`;

export const plural = (count: number, one: string, many = `${one}s`): string => (count === 1 ? one : many);

/** Returns `container "a"` or `containers "a", "b"`. */
export const containers = (names: readonly string[]): string =>
  `${plural(names.length, 'container')} ${quoted(names)}`;

export const sorted = (texts: Iterable<string>): string[] => [...new Set(texts)].sort();

/**
 * Returns which parts set a forbidden value: `pod`, `container "a"`, `pod and containers "a", "b"`; '' for
 * none.
 */
export function settersOf(
  pod: PodLike,
  isBad: (context: PodSecurityContext | SecurityContext) => boolean,
): string {
  const { securityContext } = pod.spec;
  const names = namesWhere(pod, (container) =>
    Boolean(container.securityContext && isBad(container.securityContext)),
  );
  const setters = securityContext && isBad(securityContext) ? ['pod'] : [];
  if (names.length > 0) setters.push(containers(names));
  return setters.join(' and ');
}

/** Returns all values of the pod and its containers, each once. */
export const valuesOf = (
  pod: PodLike,
  value: (context: PodSecurityContext | SecurityContext) => string | undefined,
): string[] =>
  sorted(
    [pod.spec.securityContext, ...containersOf(pod).map(({ securityContext }) => securityContext)].flatMap(
      (context) => (context && value(context)) ?? [],
    ),
  );

/** Skips the check for Windows pods; since 1.25 for rules that only apply to Linux. */
export const exceptWindows =
  (check: Check): Check =>
  (pod) =>
    pod.spec.os?.name === 'windows' ? undefined : check(pod);

/** Skips the check for pods with their own user namespace; since 1.35 for some rules. */
export const exceptOwnUsers =
  (check: Check): Check =>
  (pod) =>
    pod.spec.hostUsers === false ? undefined : check(pod);
