/** `ctl auth reconcile`: makes roles and bindings grant what manifests contain. */
import type { JsonObject } from '../../apimachinery/equality.ts';
import { isAlreadyExists, isConflict, isNotFound } from '../../apimachinery/status-error.ts';
import { UsageError } from '../../base/usage-error.ts';
import { collectionPath, objectPath } from '../../client/resource-path.ts';
import { rbacGroup } from '../access/read-policy.ts';
import {
  planBinding,
  planRole,
  type ReconcileOptions,
  type Reconciliation,
} from '../access/reconcile-plan.ts';
import { inBrackets } from '../access/rule-rows.ts';
import type { Cluster } from '../connection/cluster.ts';
import { inContext } from '../errors.ts';
import { dryRunOf, dryRunSuffix, type Flags, type FlagTable, requireManifests } from '../flags/flags.ts';
import { writeFlags, writeQuery } from '../flags/write-options.ts';
import { forEachReported } from '../for-each-reported.ts';
import type { Io } from '../io.ts';
import { kindName } from '../objects/discovery.ts';
import { metadataOf } from '../objects/objects.ts';
import { type ManifestTarget, manifestTargets } from '../objects/targets.ts';
import { typedFormat } from '../printers/object-format.ts';
import type { Verb } from '../verb.ts';

const flagTable = {
  ...writeFlags,
  'remove-extra-permissions': {
    type: 'boolean',
    about: 'remove permissions that the manifest does not have',
  },
  'remove-extra-subjects': { type: 'boolean', about: 'remove subjects that the manifest does not have' },
} as const satisfies FlagTable;

/** Maximum number of tries; other clients may create and delete the object meanwhile. */
const maxTries = 4;

const plans: Readonly<Record<string, typeof planRole | typeof planBinding>> = {
  Role: planRole,
  ClusterRole: planRole,
  RoleBinding: planBinding,
  ClusterRoleBinding: planBinding,
};

export const reconcile: Verb = {
  about: 'create and extend the roles and bindings of manifests; other objects are ignored',
  words: '-f FILE',
  flags: flagTable,
  examples: ['ctl auth reconcile -f roles.yaml # add missing rules and subjects'],
  async run(context) {
    const { flags, io } = context;
    const dryRun = checkedDryRun(flags);
    const cluster = context.cluster();
    const format = await typedFormat(context);
    const options: ReconcileOptions = {
      removeExtraPermissions: flags.on('remove-extra-permissions'),
      removeExtraSubjects: flags.on('remove-extra-subjects'),
    };
    const reconcileTarget = async (target: ManifestTarget) => {
      const plan = target.resource.group === rbacGroup ? plans[target.resource.kind] : undefined;
      if (!plan) return;
      const done = await reconcileOne(
        cluster,
        target,
        (existing) => plan(target.object, existing, options),
        dryRun === 'none',
      );
      const { name } = metadataOf(done.object);
      io.out(
        format
          ? format(done.object)
          : `${kindName(target.resource)}/${name} reconciled${dryRunSuffix[dryRun]}\n`,
      );
      printResult(io, done, options);
    };
    const targets = manifestTargets(context, cluster);
    await forEachReported(context, targets, reconcileTarget, (error, { manifest: { file, line } }) =>
      inContext(error, `error when reconciling "${file}:${line}"`),
    );
  },
};

/**
 * Returns the value of --dry-run. Throws UsageError without files, for arguments, and for --dry-run=server,
 * as kubectl does.
 */
function checkedDryRun(flags: Flags): 'none' | 'client' {
  requireManifests(flags);
  if (flags.words.length > 0) throw new UsageError('no arguments are allowed');
  const dryRun = dryRunOf(flags);
  if (dryRun === 'server')
    throw new UsageError('--dry-run=server for command reconcile is not supported yet');
  return dryRun;
}

type Plan = (existing: JsonObject | undefined) => Reconciliation;

/** Resolves to the plan, with the object as it is stored afterwards. */
async function reconcileOne(
  cluster: Cluster,
  target: ManifestTarget,
  plan: Plan,
  writes: boolean,
): Promise<Reconciliation> {
  for (let tries = 1; ; tries++) {
    const existing = await read(cluster, target);
    const planned = plan(existing);
    if (!writes || planned.protected || planned.operation === 'none') return planned;
    try {
      return { ...planned, object: await write(cluster, target, planned, existing) };
    } catch (error) {
      if (!isRace(error, existing !== undefined) || tries === maxTries) throw error;
    }
  }
}

/** Returns true for the error of a write that another client's write preceded. */
const isRace = (error: unknown, existed: boolean): boolean =>
  isAlreadyExists(error) || isConflict(error) || (existed && isNotFound(error));

async function read(
  cluster: Cluster,
  { name, namespace, resource }: ManifestTarget,
): Promise<JsonObject | undefined> {
  try {
    return await cluster.get(objectPath(resource, name, namespace));
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

async function write(
  cluster: Cluster,
  { name, namespace, resource }: ManifestTarget,
  { object, operation }: Reconciliation,
  existing: JsonObject | undefined,
): Promise<JsonObject> {
  const [path, parameters] = [objectPath(resource, name, namespace), writeQuery('none')];
  if (operation === 'update') return cluster.send('PUT', path + parameters, object);
  if (existing) {
    const { uid } = metadataOf(existing);
    await cluster.send('DELETE', path, { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid } });
  } else if (namespace) await ensureNamespace(cluster, namespace);
  return cluster.send('POST', collectionPath(resource, namespace) + parameters, object);
}

/**
 * Creates the namespace if it does not exist. A user who may not read namespaces gets the error of the
 * following request.
 */
async function ensureNamespace(cluster: Cluster, name: string): Promise<void> {
  const namespaces = '/api/v1/namespaces';
  try {
    await cluster.get(`${namespaces}/${encodeURIComponent(name)}`);
  } catch (error) {
    if (!isNotFound(error)) return;
    const made = cluster.send('POST', namespaces, {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name },
    });
    await made.catch((failure) => {
      if (!isAlreadyExists(failure)) throw failure;
    });
  }
}

/** Prints the result in kubectl's words, with Go's text form of subjects and rules. */
function printResult(
  io: Io,
  done: Reconciliation,
  { removeExtraPermissions, removeExtraSubjects }: ReconcileOptions,
) {
  if (done.operation === 'none') return;
  const caveat = done.protected
    ? ', but object opted out (rbac.authorization.kubernetes.io/autoupdate: false)'
    : '';
  const subject = ({ kind, apiGroup, name, namespace }: Reconciliation['extraSubjects'][number]) =>
    `{Kind:${kind} APIGroup:${apiGroup} Name:${name} Namespace:${namespace}}`;
  const rule = ({
    apiGroups,
    nonResourceURLs,
    resourceNames,
    resources,
    verbs,
  }: Reconciliation['extraRules'][number]) =>
    `{Verbs:${inBrackets(verbs)} APIGroups:${inBrackets(apiGroups)} Resources:${inBrackets(resources)} ` +
    `ResourceNames:${inBrackets(resourceNames)} NonResourceURLs:${inBrackets(nonResourceURLs)}}`;
  const list = (title: string, items: readonly string[]) =>
    items.length > 0 ? [`\t${title}:`, ...items.map((item) => `\t\t${item}`)] : [];
  const lines = [
    `\treconciliation required ${done.operation}${caveat}`,
    ...list('missing subjects added', done.missingSubjects.map(subject)),
    ...list('extra subjects removed', removeExtraSubjects ? done.extraSubjects.map(subject) : []),
    ...list('missing rules added', done.missingRules.map(rule)),
    ...list('extra rules removed', removeExtraPermissions ? done.extraRules.map(rule) : []),
  ];
  io.err(lines.map((line) => `${line}\n`).join(''));
}
