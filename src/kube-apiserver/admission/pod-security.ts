/**
 * Pod Security: restricts pods according to the labels of their namespace (upstream:
 * plugin/pkg/admission/security/podsecurity). A pod that violates the policy is rejected; the writer of a
 * workload that creates such pods only gets a warning.
 */
import { type Namespace, namespaceResource } from '../../api/core/v1/namespace.ts';
import { type Pod, podResource } from '../../api/core/v1/pod/pod.ts';
import { deepEqual } from '../../apimachinery/equality.ts';
import { kubernetesLevel } from '../../apimachinery/kubernetes-level.ts';
import type { Labels } from '../../apimachinery/labels.ts';
import { storagePrefix } from '../../apimachinery/resource-definition.ts';
import { newForbidden, newInternalError, newInvalid } from '../../apimachinery/status-error.ts';
import type { Admission, AdmissionPlugin } from '../../apiserver/admission/plugin.ts';
import { findObject } from '../../apiserver/stored-object.ts';
import { RequestWork } from '../../apiserver/transport/request-work.ts';
import type { KubeContext } from '../context.ts';
import { changesSignificantly } from '../pod-security/changes.ts';
import type { PodLike, Violation } from '../pod-security/check.ts';
import { inDetail, violationsOf } from '../pod-security/evaluate.ts';
import {
  isEquivalent,
  isPrivileged,
  isSame,
  isStricter,
  type LevelVersion,
  ownModes,
  type Policy,
  policyOf,
  written,
} from '../pod-security/levels.ts';
import { namespaceWarnings } from '../pod-security/namespace-pods.ts';
import { hasTemplate, templateOf } from '../pod-security/templates.ts';
import { PodSecurityAudit } from './pod-security-audit.ts';

/** The minor version that the policy `latest` stands for. */
const servedMinor = Number(kubernetesLevel.minor);

/** Maximum time in milliseconds for checking the pods of a namespace whose policy changes, as upstream. */
export const maxNamespaceCheck = 1_000;

/** Subresources that do not change what a pod runs. All others are checked, including future ones. */
const harmless = new Set([
  ...['exec', 'attach', 'binding', 'eviction', 'log', 'portforward', 'proxy', 'status'],
]);

type Server = Pick<KubeContext, 'cache' | 'clock' | 'log' | 'podSecurity' | 'store' | 'turns'>;

export function podSecurity(server: Server): AdmissionPlugin {
  const audit = new PodSecurityAudit(server);
  return {
    name: 'PodSecurity',
    validate: (admission) => check(server, admission, audit),
  };
}

function check(server: Server, admission: Admission, audit: PodSecurityAudit): Promise<void> | undefined {
  const { definition, operation, subresource } = admission;
  if (operation === 'delete') return undefined;
  const kind = definition.group === '' ? definition.plural : undefined;
  if (kind === 'pods') return harmless.has(subresource) ? undefined : checkPod(server, admission, audit);
  if (subresource !== '') return undefined;
  if (kind === 'namespaces') return checkNamespace(server, admission);
  return hasTemplate(definition) ? checkTemplate(server, admission, audit) : undefined;
}

async function checkNamespace(server: Server, admission: Admission): Promise<void> {
  const { name, warn } = admission;
  const { defaults, exemptions } = server.podSecurity;
  const { labels = {} } = (admission.object as Namespace).metadata;
  const { policy, old } = validPolicies(admission, labels, defaults);
  if (old && !isTighter(policy.enforce, old.enforce)) return;
  if (exemptions.namespaces.includes(name)) {
    if (!isPrivileged(policy) && !isEquivalent(policy, defaults)) warn?.(ignoredPolicy(name, labels, policy));
    return;
  }
  if (old) for (const warning of await warningsOfPods(server, name, policy.enforce)) warn?.(warning);
}

/**
 * Returns the policies of the new and of the old labels. Throws if the new labels have other faults than the
 * old ones.
 */
function validPolicies(admission: Admission, labels: Labels, defaults: Policy) {
  const { policy, causes } = policyOf(labels, defaults);
  const old = admission.old && policyOf(admission.old.metadata.labels ?? {}, defaults);
  if (causes.length > 0 && !(old && deepEqual(causes, old.causes)))
    throw newInvalid(admission.definition, admission.name, causes);
  return { policy, old: old?.policy };
}

function ignoredPolicy(namespace: string, labels: Labels, policy: Policy): string {
  const ignored = `and the policy (${ownModes(labels, policy)}) will be ignored`;
  return `namespace ${JSON.stringify(namespace)} is exempt from Pod Security, ${ignored}`;
}

/** Returns whether pods that were allowed may be rejected now. */
const isTighter = (enforce: LevelVersion, old: LevelVersion) =>
  enforce.level !== 'privileged' &&
  !isSame(enforce, old) &&
  (enforce.version !== old.version || isStricter(enforce.level, old.level));

function warningsOfPods(server: Server, namespace: string, enforce: LevelVersion): Promise<string[]> {
  const { cache, clock } = server;
  const end = clock.monotonic() + maxNamespaceCheck;
  const cached = cache.list(storagePrefix(podResource, namespace));
  const steps = namespaceWarnings({
    namespace,
    enforce,
    total: cached.length,
    // Pods are decoded lazily, one in each step.
    pods: cached.values().map(({ object }) => object as Pod),
    latest: servedMinor,
    isExempt: (pod) => isExemptClass(server, pod),
    isOver: () => clock.monotonic() >= end,
  });
  return new RequestWork(server).through(steps);
}

async function checkPod(server: Server, admission: Admission, audit: PodSecurityAudit): Promise<void> {
  if (isExempt(server, admission)) return;
  const pod = admission.object as Pod;
  const policy = await policyFor(server, admission);
  if (!policy || isPrivileged(policy)) return;
  if (admission.old && !changesSignificantly(pod, admission.old as Pod)) return;
  if (isExemptClass(server, pod)) return;
  const judge = judgement(pod);
  const refused = judge(policy.enforce);
  recordAudit(audit, admission, policy.audit, judge(policy.audit));
  if (refused.length > 0) {
    const { definition, name } = admission;
    throw newForbidden(definition, name, `violates PodSecurity ${violationText(policy.enforce, refused)}`);
  }
  warnOf(admission, policy.warn, judge(policy.warn));
}

async function checkTemplate(server: Server, admission: Admission, audit: PodSecurityAudit): Promise<void> {
  const { definition, object } = admission;
  const template = object && templateOf(definition, object);
  if (!template || isExempt(server, admission)) return;
  const policy = await policyFor(server, admission);
  if (!policy || isExemptClass(server, template)) return;
  const judge = judgement(template);
  recordAudit(audit, admission, policy.audit, judge(policy.audit));
  warnOf(admission, policy.warn, judge(policy.warn));
}

/**
 * Returns a function that caches violations by policy, since most namespaces warn at the level that they
 * enforce.
 */
function judgement(pod: PodLike): (policy: LevelVersion) => readonly Violation[] {
  const known = new Map<string, readonly Violation[]>();
  return (policy) => known.getOrInsertComputed(written(policy), () => violationsOf(policy, pod, servedMinor));
}

const violationText = (policy: LevelVersion, violations: readonly Violation[]) =>
  `${JSON.stringify(written(policy))}: ${inDetail(violations)}`;

const wouldViolate = (policy: LevelVersion, violations: readonly Violation[]) =>
  `would violate PodSecurity ${violationText(policy, violations)}`;

function warnOf({ warn }: Admission, policy: LevelVersion, violations: readonly Violation[]): void {
  if (violations.length > 0) warn?.(wouldViolate(policy, violations));
}

function recordAudit(
  audit: PodSecurityAudit,
  admission: Admission,
  policy: LevelVersion,
  violations: readonly Violation[],
): void {
  if (violations.length > 0) audit.record(admission, wouldViolate(policy, violations));
}

const isExempt = ({ podSecurity: { exemptions } }: Server, { namespace, user }: Admission) =>
  exemptions.namespaces.includes(namespace) || exemptions.usernames.includes(user.name);

const isExemptClass = ({ podSecurity: { exemptions } }: Server, { spec }: PodLike) =>
  Boolean(spec.runtimeClassName) && exemptions.runtimeClasses.includes(spec.runtimeClassName ?? '');

/**
 * Returns the policy of the namespace; undefined for a template in a namespace that does not exist. Throws
 * 500 for a pod in such a namespace, because its policy is unknown.
 */
async function policyFor(
  server: Server,
  { definition, namespace: name }: Admission,
): Promise<Policy | undefined> {
  const namespace = await findObject(server, namespaceResource, '', name);
  if (namespace) return policyOf(namespace.metadata.labels ?? {}, server.podSecurity.defaults).policy;
  if (hasTemplate(definition)) return undefined;
  throw newInternalError(`failed to lookup namespace ${JSON.stringify(name)}`);
}
