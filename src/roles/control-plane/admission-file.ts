/**
 * What plugins of admission are told, in the form of kube-apiserver's --admission-control-config-file. The one that is told
 * anything here is ResourceQuota: of what nothing may be used where no quota limits it.
 */
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import * as v from 'valibot';
import { TextError } from '../../apimachinery/value-limit.ts';
import { parseYaml } from '../../apimachinery/yaml.ts';
import { errorMessage } from '../../base/log.ts';
import { UsageError } from '../../base/usage-error.ts';
import type { LimitedResource } from '../../kube-apiserver/admission/quota-checks.ts';

const flag = '--admission-control-config-file';
const apiVersion = v.literal('apiserver.config.k8s.io/v1');

const scopeNames = [
  ...['Terminating', 'NotTerminating', 'BestEffort', 'NotBestEffort'],
  ...['PriorityClass', 'CrossNamespacePodAffinity'],
] as const;

const scopeShape = v.strictObject({
  scopeName: v.picklist(scopeNames),
  operator: v.picklist(['In', 'NotIn', 'Exists', 'DoesNotExist']),
  values: v.optional(v.array(v.string()), []),
});

const quotaShape = v.strictObject({
  apiVersion,
  kind: v.literal('ResourceQuotaConfiguration'),
  limitedResources: v.optional(
    v.array(
      v.strictObject({
        apiGroup: v.optional(v.string(), ''),
        resource: v.string(),
        matchContains: v.optional(v.array(v.string()), []),
        matchScopes: v.optional(v.array(scopeShape), []),
      }),
    ),
    [],
  ),
});

const fileShape = v.strictObject({
  apiVersion,
  kind: v.literal('AdmissionConfiguration'),
  plugins: v.optional(
    v.array(
      v.strictObject({
        name: v.literal('ResourceQuota'),
        path: v.optional(v.string(), ''),
        configuration: v.optional(v.unknown()),
      }),
    ),
    [],
  ),
});

/** Throws UsageError naming the file and the field that cannot be used. */
export async function readAdmissionFile(path: string): Promise<readonly LimitedResource[]> {
  const { plugins } = check(fileShape, parse(await text(path), path), path);
  const [plugin, another] = plugins;
  if (another) throw new UsageError(`${flag}: ${path}: plugins: ResourceQuota is there twice`);
  if (!plugin) return [];
  if (plugin.configuration !== undefined && plugin.configuration !== null)
    return check(quotaShape, plugin.configuration, `${path}: plugins[0].configuration`).limitedResources;
  if (!plugin.path) return [];
  const own = resolve(dirname(path), plugin.path);
  return check(quotaShape, parse(await text(own), own), own).limitedResources;
}

async function text(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new UsageError(`${flag}: cannot read ${path} (${errorMessage(error)})`);
  }
}

function parse(content: string, path: string): unknown {
  try {
    return parseYaml(content).value;
  } catch (error) {
    if (!(error instanceof TextError)) throw error;
    throw new UsageError(`${flag}: ${path}: ${error.message}`);
  }
}

function check<const S extends v.GenericSchema>(shape: S, value: unknown, where: string): v.InferOutput<S> {
  const result = v.safeParse(shape, value);
  if (result.success) return result.output;
  const [issue] = result.issues;
  const field = v.getDotPath(issue) ?? '';
  throw new UsageError(`${flag}: ${where}: ${field && `${field}: `}${issue.message}`);
}
