/** Pods for the checks of Pod Security, with only the fields that a check reads. */
import type { PodLike, Violation } from '../../../../src/kube-apiserver/pod-security/check.ts';
import { violationsOf } from '../../../../src/kube-apiserver/pod-security/evaluate.ts';
import type { Level, Version } from '../../../../src/kube-apiserver/pod-security/levels.ts';

export interface PodFields {
  readonly annotations?: Readonly<Record<string, string>>;
  readonly [field: string]: unknown;
}

/** Pod with one container `a` by default. */
export const podWith = ({ annotations, ...spec }: PodFields): PodLike =>
  ({
    metadata: annotations ? { annotations } : {},
    spec: { containers: [{ name: 'a' }], ...spec },
  }) as unknown as PodLike;

/** Containers `a`, `b`, … with these contexts. */
export const containersWith = (...contexts: (object | undefined)[]) => ({
  containers: contexts.map((securityContext, index) => ({
    name: String.fromCodePoint(97 + index),
    securityContext,
  })),
});

const newest = 37;

export const judged = (pod: PodFields, level: Level, version: Version = 'latest'): readonly Violation[] =>
  violationsOf({ level, version }, podWith(pod), newest);

/** Security context that every restricted pod may have. */
export const restrictedContext = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  runAsNonRoot: true,
  seccompProfile: { type: 'RuntimeDefault' },
};
