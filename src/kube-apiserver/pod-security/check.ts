/** What a check of Pod Security looks at and what it says, in the words that clients of Kubernetes know. */
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
  /** The same for all pods that break this rule in any way. */
  readonly reason: string;
  /** Which part of this pod, and what to do; may be ''. */
  readonly detail: string;
}

/** Undefined for a pod that is allowed. */
export type Check = (pod: PodLike) => Violation | undefined;

/** The rule as it is since this minor version of Kubernetes 1. */
export interface VersionedCheck {
  readonly since: number;
  readonly check: Check;
  /** Checks of the level baseline that are not made besides this one. */
  readonly replaces?: readonly string[];
}

export interface PolicyCheck {
  /** Violations are told in the order of these, those of baseline first. */
  readonly id: string;
  readonly level: 'baseline' | 'restricted';
  /** Oldest first. */
  readonly versions: readonly VersionedCheck[];
}

type AnyContainer = Container | EphemeralContainer;

export const containersOf = ({ spec }: PodLike): readonly AnyContainer[] => [
  ...(spec.initContainers ?? []),
  ...spec.containers,
  ...(spec.ephemeralContainers ?? []),
];

/** The names of the containers for which it holds, in order. */
export const namesWhere = (pod: PodLike, holds: (container: AnyContainer) => boolean): string[] =>
  containersOf(pod)
    .filter(holds)
    .map(({ name }) => name);

/** `"a", "b"` */
export const quoted = (texts: readonly string[]): string => `"${texts.join('", "')}"`;

export const plural = (count: number, one: string, many = `${one}s`): string => (count === 1 ? one : many);

/** `container "a"` or `containers "a", "b"` */
export const containers = (names: readonly string[]): string =>
  `${plural(names.length, 'container')} ${quoted(names)}`;

export const sorted = (texts: Iterable<string>): string[] => [...new Set(texts)].sort();

/** Who says what is not allowed: `pod`, `container "a"`, `pod and containers "a", "b"`; '' for nobody. */
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

/** Every value that the pod and its containers have for it, each once. */
export const valuesOf = (
  pod: PodLike,
  value: (context: PodSecurityContext | SecurityContext) => string | undefined,
): string[] =>
  sorted(
    [pod.spec.securityContext, ...containersOf(pod).map(({ securityContext }) => securityContext)].flatMap(
      (context) => (context && value(context)) ?? [],
    ),
  );

/** Since 1.25 what only Linux has is not asked of pods for Windows. */
export const exceptWindows =
  (check: Check): Check =>
  (pod) =>
    pod.spec.os?.name === 'windows' ? undefined : check(pod);

/** Since 1.35 some of it is not asked of pods with users of their own. */
export const exceptOwnUsers =
  (check: Check): Check =>
  (pod) =>
    pod.spec.hostUsers === false ? undefined : check(pod);
