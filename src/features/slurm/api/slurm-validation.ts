/** Rules of SlurmJob. Accepted values are single words for sbatch, and safe to write below a directory. */

import { deepEqual } from '../../../apimachinery/equality.ts';
import {
  duplicateCause,
  forbiddenCause,
  invalidCause,
  invalidTogetherCause,
  requiredCause,
  tooLongCause,
  tooManyCause,
} from '../../../apimachinery/field-error.ts';
import {
  checkCIdentifier,
  checkDns1123Label,
  checkDns1123Subdomain,
  nameCauses,
} from '../../../apimachinery/names.ts';
import { quantityValue, tryParseQuantity } from '../../../apimachinery/quantity.ts';
import type { StatusCause } from '../../../apimachinery/status-error.ts';
import { pathProblem } from '../../functions/api/function-validation.ts';
import { argumentProblem, arrayProblem, timeProblem } from './slurm-options.ts';
import type { SlurmJob } from './types.gen.ts';

type Spec = SlurmJob['spec'];

/** Maximum bytes of all files with their paths, as in the object, which must fit into the store. */
export const maxSlurmBytes = 1_000_000;
const maxFiles = 1000;
const maxItems = 100;
/** Maximum characters of a command or a value. */
const maxTextLength = 32_768;
/** Bytes of a mebibyte. */
const mebibyte = 1024 ** 2;
const maxResults = 64 * mebibyte;
/** Directory of the client in the work directory. */
const ownFolder = '.minik8s';

const oneWord = /^[A-Za-z0-9_][A-Za-z0-9_.,+-]{0,127}$/;
const moduleName = /^[A-Za-z0-9_][A-Za-z0-9_.+/-]{0,127}$/;
const folder = /^\/?[A-Za-z0-9._@+-]+(?:\/[A-Za-z0-9._@+-]+)*$/;
const pattern = /^[A-Za-z0-9._@+*?[\]-]+(?:\/[A-Za-z0-9._@+*?[\]-]+)*$/;

export function validateSlurmJob({ metadata, spec }: SlurmJob): StatusCause[] {
  return [
    ...nameCauses('metadata.name', metadata.name, checkDns1123Label),
    ...nameCauses('spec.connection.secretName', spec.connection.secretName, checkDns1123Subdomain),
    ...validateProgram(spec),
    ...validateFiles(spec),
    ...validateRequest(spec),
    ...validateEnvironment(spec),
    ...validateResults(spec),
    ...validateEnd(spec),
  ];
}

/** Fields that may be changed while the job runs. */
const changeable: readonly string[] = ['cancel', 'activeDeadlineSeconds', 'ttlSecondsAfterFinished'];

export function validateSlurmJobUpdate({ spec }: SlurmJob, { spec: old }: SlurmJob): StatusCause[] {
  const fields = new Set([...Object.keys(spec), ...Object.keys(old)]);
  const causes = [...fields].flatMap((field) =>
    changeable.includes(field) || deepEqual(spec[field as keyof Spec], old[field as keyof Spec])
      ? []
      : [
          forbiddenCause(
            `spec.${field}`,
            `is immutable: only ${changeable.join(', ')} of a job can be changed`,
          ),
        ],
  );
  if (old.cancel && !spec.cancel)
    causes.push(forbiddenCause('spec.cancel', 'a canceled job cannot continue: create a new one'));
  return causes;
}

function validateProgram(spec: Spec): StatusCause[] {
  const { run, script, scriptFile } = spec;
  const given = Object.entries({ run, script, scriptFile }).filter(([, value]) => value !== undefined);
  const causes = given
    .slice(1)
    .map(([field]) => forbiddenCause(`spec.${field}`, `a job with ${given[0]?.[0]} cannot have it`));
  if (given.length === 0)
    causes.push(requiredCause('spec.run', 'a job has its commands in run, script or scriptFile'));
  if (run?.length === 0) causes.push(requiredCause('spec.run', 'at least one command'));
  causes.push(...commands('build', spec.build), ...commands('run', run));
  if (script !== undefined && !script.startsWith('#!'))
    causes.push(invalidTogetherCause('spec.script', 'must begin with #!, such as #!/bin/bash'));
  if (script?.includes('\0')) causes.push(invalidTogetherCause('spec.script', 'must not contain NUL'));
  const isThere = spec.files?.some(({ path }) => path === scriptFile) || (spec.filesFrom?.length ?? 0) > 0;
  if (scriptFile !== undefined && !isThere)
    causes.push(invalidCause('spec.scriptFile', scriptFile, 'spec.files has no such path'));
  if (scriptFile !== undefined) causes.push(...pathCauses('spec.scriptFile', scriptFile));
  return causes;
}

function commands(field: string, list: readonly string[] = []): StatusCause[] {
  const causes = list.flatMap((command, index) => {
    const at = `spec.${field}[${index}]`;
    if (command.trim() === '') return [requiredCause(at, 'a command')];
    if (command.length > maxTextLength) return [tooLongCause(at, maxTextLength)];
    return command.includes('\0') ? [invalidTogetherCause(at, 'must not contain NUL')] : [];
  });
  return list.length > maxItems ? [tooManyCause(`spec.${field}`, list.length, maxItems)] : causes;
}

function listedFileCauses(files: NonNullable<Spec['files']>): StatusCause[] {
  const causes: StatusCause[] = [];
  const paths = new Set(files.map(({ path }) => path));
  const seen = new Set<string>();
  for (const [index, { path, content, base64 }] of files.entries()) {
    const at = `spec.files[${index}]`;
    const problems = pathCauses(`${at}.path`, path);
    causes.push(...problems);
    if (seen.has(path)) causes.push(duplicateCause(`${at}.path`, path));
    seen.add(path);
    const file = problems.length > 0 ? undefined : fileAbove(path, paths);
    if (file !== undefined) causes.push(invalidCause(`${at}.path`, path, `${file} is a file`));
    causes.push(...contentCauses(at, content, base64));
  }
  return causes;
}

function validateFiles({ files = [], filesFrom = [], script = '' }: Spec): StatusCause[] {
  if (files.length > maxFiles) return [tooManyCause('spec.files', files.length, maxFiles)];
  if (filesFrom.length > maxItems) return [tooManyCause('spec.filesFrom', filesFrom.length, maxItems)];
  const causes = listedFileCauses(files);
  for (const [index, { configMapName, path }] of filesFrom.entries()) {
    const at = `spec.filesFrom[${index}]`;
    causes.push(...nameCauses(`${at}.configMapName`, configMapName, checkDns1123Subdomain));
    if (path !== undefined) causes.push(...pathCauses(`${at}.path`, path));
  }
  const sizes = files.map(({ path, content = '', base64 = '' }) =>
    [path, content, base64].reduce((sum, text) => sum + Buffer.byteLength(text), 0),
  );
  const bytes = sizes.reduce((sum, size) => sum + size, Buffer.byteLength(script));
  if (bytes > maxSlurmBytes) {
    const rule = `all files together may not be more than ${maxSlurmBytes} bytes, but are ${bytes}`;
    causes.push(invalidTogetherCause('spec.files', rule));
  }
  return causes;
}

function contentCauses(at: string, content: string | undefined, base64: string | undefined): StatusCause[] {
  const causes: StatusCause[] = [];
  if (content === undefined && base64 === undefined)
    causes.push(requiredCause(`${at}.content`, 'a file has content or base64'));
  if (content !== undefined && base64 !== undefined)
    causes.push(forbiddenCause(`${at}.base64`, 'a file with content cannot have it'));
  if (base64 !== undefined && !isBase64(base64))
    causes.push(invalidTogetherCause(`${at}.base64`, 'must be base64'));
  return causes;
}

/**
 * Returns a file among the path's parents. Takes quadratic time in the length of the path: must not be called
 * with a path that `pathCauses` rejects.
 */
function fileAbove(path: string, paths: ReadonlySet<string>): string | undefined {
  const parts = path.split('/');
  const above = parts.slice(1).map((_, count) => parts.slice(0, count + 1).join('/'));
  return above.find((one) => paths.has(one));
}

function pathCauses(at: string, path: string): StatusCause[] {
  const problem =
    pathProblem(path) ??
    (path.split('/', 1)[0] === ownFolder
      ? `must not be in ${ownFolder}, the folder of the client`
      : undefined);
  return problem === undefined ? [] : [invalidCause(at, path, problem)];
}

const isBase64 = (text: string) => /^[A-Za-z0-9+/]*={0,2}$/.test(text) && text.length % 4 === 0;

function validateRequest(spec: Spec): StatusCause[] {
  const causes = (['partition', 'account', 'qos', 'gpuType'] as const).flatMap((field) =>
    shaped(
      `spec.${field}`,
      spec[field],
      oneWord,
      "must be a name of letters, digits, '_', '.', ',', '+' and '-'",
    ),
  );
  for (const field of ['nodes', 'tasks', 'tasksPerNode', 'cpusPerTask', 'gpus'] as const)
    causes.push(...between(`spec.${field}`, spec[field], field === 'gpus' ? 0 : 1, 1_000_000));
  if (spec.gpuType !== undefined && !spec.gpus)
    causes.push(requiredCause('spec.gpus', 'how many GPUs of spec.gpuType'));
  const memory = spec.memory === undefined ? undefined : tryParseQuantity(spec.memory);
  if (memory && quantityValue(memory) < mebibyte)
    causes.push(invalidCause('spec.memory', spec.memory, 'must be at least 1Mi'));
  return [
    ...causes,
    ...checked('spec.time', spec.time, timeProblem),
    ...checked('spec.array', spec.array, arrayProblem),
    ...validateOptions(spec),
    ...validateWorkDir(spec.workDir),
  ];
}

function validateOptions({ arguments: options = [], modules = [] }: Spec): StatusCause[] {
  const causes: StatusCause[] = [];
  if (options.length > maxItems) causes.push(tooManyCause('spec.arguments', options.length, maxItems));
  else
    for (const [i, option] of options.entries())
      causes.push(...checked(`spec.arguments[${i}]`, option, argumentProblem));
  if (modules.length > maxItems) causes.push(tooManyCause('spec.modules', modules.length, maxItems));
  const rule = 'must be the name of a module, such as cuda/12.4';
  for (const [i, name] of modules.entries())
    causes.push(...shaped(`spec.modules[${i}]`, name, moduleName, rule));
  return causes;
}

function validateWorkDir(workDir: string | undefined): StatusCause[] {
  const rule =
    "must be a path of letters, digits, '-', '_', '.', '@' and '+', without '.' and '..' as a part";
  const hasDots = workDir?.split('/').some((part) => part === '..' || part === '.') ?? false;
  if (hasDots) return [invalidCause('spec.workDir', workDir, rule)];
  return shaped('spec.workDir', workDir, folder, rule);
}

function validateEnvironment({ environment = {} }: Spec): StatusCause[] {
  const entries = Object.entries(environment);
  if (entries.length > maxFiles) return [tooManyCause('spec.environment', entries.length, maxFiles)];
  return entries.flatMap(([name, value]) => {
    const at = `spec.environment[${name}]`;
    const causes = nameCauses(at, name, checkCIdentifier);
    if (/^(?:SLURM|SBATCH)_/.test(name))
      causes.push(forbiddenCause(at, 'names that begin with SLURM_ or SBATCH_ are set by Slurm'));
    if (value.length > maxTextLength) causes.push(tooLongCause(at, maxTextLength));
    if (value.includes('\0')) causes.push(invalidTogetherCause(at, 'must not contain NUL'));
    return causes;
  });
}

function validateResults({ results = [], resultsLimit }: Spec): StatusCause[] {
  if (results.length > maxItems) return [tooManyCause('spec.results', results.length, maxItems)];
  const rule = 'must be a relative path such as out/*.csv, in which *, ? and [ ] stand for characters';
  const causes = results.flatMap((glob, index) => {
    const at = `spec.results[${index}]`;
    const isStep = glob.split('/').some((part) => part === '.' || part === '..');
    if (glob.length > 255 || isStep) return [invalidCause(at, glob, rule)];
    return shaped(at, glob, pattern, rule);
  });
  const limit = tryParseQuantity(resultsLimit);
  const bytes = limit ? quantityValue(limit) : 1;
  if (bytes < 1 || bytes > maxResults)
    causes.push(invalidCause('spec.resultsLimit', resultsLimit, 'must be more than 0 and at most 64Mi'));
  return causes;
}

const validateEnd = ({ activeDeadlineSeconds, ttlSecondsAfterFinished }: Spec): StatusCause[] => [
  ...between('spec.activeDeadlineSeconds', activeDeadlineSeconds, 1, 2_147_483_647),
  ...between('spec.ttlSecondsAfterFinished', ttlSecondsAfterFinished, 0, 2_147_483_647),
];

const shaped = (at: string, value: string | undefined, shape: RegExp, rule: string): StatusCause[] =>
  value === undefined || shape.test(value) ? [] : [invalidCause(at, value, rule)];

function checked<T>(
  at: string,
  value: T | undefined,
  problem: (value: T) => string | undefined,
): StatusCause[] {
  const why = value === undefined ? undefined : problem(value);
  return why === undefined ? [] : [invalidCause(at, value, why)];
}

const between = (at: string, value: number | undefined, least: number, most: number): StatusCause[] =>
  value === undefined || (value >= least && value <= most)
    ? []
    : [invalidCause(at, value, `must be between ${least} and ${most}, inclusive`)];
