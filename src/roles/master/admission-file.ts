/**
 * Configuration of admission plugins, in the form of kube-apiserver's --admission-control-config-file.
 * ResourceQuota: the resources that may be used only in namespaces with a quota for them. PodSecurity: the
 * defaults for namespaces without labels of their own.
 */
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import * as v from 'valibot';
import { TextError } from '../../apimachinery/value-limit.ts';
import { parseYaml } from '../../apimachinery/yaml.ts';
import { errorMessage } from '../../base/log.ts';
import { UsageError } from '../../base/usage-error.ts';
import type { KubeApiServerOptions } from '../../kube-apiserver/options.ts';
import { podSecurityShape } from './pod-security-shape.ts';

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

const pluginShape = <const Name extends string>(name: Name) =>
  v.strictObject({
    name: v.literal(name),
    path: v.optional(v.string(), ''),
    configuration: v.optional(v.unknown()),
  });

const fileShape = v.strictObject({
  apiVersion,
  kind: v.literal('AdmissionConfiguration'),
  plugins: v.optional(
    v.array(v.variant('name', [pluginShape('ResourceQuota'), pluginShape('PodSecurity')])),
    [],
  ),
});

type AdmissionSettings = Pick<KubeApiServerOptions, 'limitedResources' | 'podSecurity'>;

/** Throws UsageError that names the file and the invalid field. */
export async function readAdmissionFile(path: string): Promise<AdmissionSettings> {
  const { plugins } = check(fileShape, parse(await text(path), path), path);
  const seen = new Set<string>();
  const settings: { -readonly [Key in keyof AdmissionSettings]: AdmissionSettings[Key] } = {};
  for (const [index, plugin] of plugins.entries()) {
    const { name } = plugin;
    if (seen.has(name)) throw new UsageError(`${flag}: ${path}: plugins: ${name} is listed twice`);
    seen.add(name);
    const found = await configurationOf(plugin, path, index);
    if (!found) continue;
    if (name === 'PodSecurity') settings.podSecurity = check(podSecurityShape, found.value, found.where);
    else settings.limitedResources = check(quotaShape, found.value, found.where).limitedResources;
  }
  return settings;
}

type Plugin = v.InferOutput<typeof fileShape>['plugins'][number];

/**
 * Returns the configuration in the file itself, or in the file beside it that `path` names; undefined for a
 * plugin without configuration.
 */
async function configurationOf(
  { configuration, path: named }: Plugin,
  path: string,
  index: number,
): Promise<{ readonly value: unknown; readonly where: string } | undefined> {
  if (configuration !== undefined && configuration !== null)
    return { value: configuration, where: `${path}: plugins[${index}].configuration` };
  if (!named) return undefined;
  const where = resolve(dirname(path), named);
  return { value: parse(await text(where), where), where };
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
