/** Rules of Trigger. */

import { validateSchedule } from '../../../api/batch/v1/cron-job.ts';
import { validateTimeZone } from '../../../api/batch/v1/time-zone.ts';
import {
  forbiddenCause,
  invalidCause,
  notSupportedCause,
  requiredCause,
  tooLongCause,
} from '../../../apimachinery/field-error.ts';
import { parseFieldSelector } from '../../../apimachinery/field-selector.ts';
import { parseLabelSelector } from '../../../apimachinery/labels.ts';
import { checkDns1123Label, checkDns1123Subdomain, nameCauses } from '../../../apimachinery/names.ts';
import { type StatusCause, StatusError } from '../../../apimachinery/status-error.ts';
import { patternFault } from './file-name-pattern.ts';
import { changeTypes, outcomes, sourceNames } from './trigger-fields.ts';
import type { Trigger } from './types.gen.ts';

type Spec = Trigger['spec'];

/** Maximum length of a name; an event appends to it, and a run of a workflow has the name of its event. */
const maxNameLength = 40;
/** Kinds that a delivery itself changes. */
const ownKinds = ['Trigger', 'TriggerEvent'];
const maxInput = 256 * 1024;
const path = /^(?:\/[A-Za-z0-9._~-]+)+$/;
const maxPathLength = 255;
const kind = /^[A-Za-z][A-Za-z0-9]{0,62}$/;
const version = /^v[a-z0-9]{1,62}$/;

export function validateTrigger({ metadata, spec }: Trigger): StatusCause[] {
  const causes: StatusCause[] = [];
  if (metadata.name.length > maxNameLength || metadata.name.includes('.')) {
    const rule = `must be a DNS label of no more than ${maxNameLength} characters`;
    causes.push(invalidCause('metadata.name', metadata.name, rule));
  }
  causes.push(...nameCauses('spec.target.name', spec.target.name, checkDns1123Subdomain));
  causes.push(...nameCauses('spec.serviceAccountName', spec.serviceAccountName, checkDns1123Subdomain));
  return [...causes, ...validateSource(spec), ...validateInput(spec), ...validateNumbers(spec)];
}

function validateSource(spec: Spec): StatusCause[] {
  const [first, ...more] = sourceNames.filter((name) => spec[name] !== undefined);
  if (first === undefined) return [requiredCause('spec', `a trigger has one of ${sourceNames.join(', ')}`)];
  const causes = more.map((name) =>
    forbiddenCause(`spec.${name}`, `a trigger with ${first} cannot have another source`),
  );
  // Missing required fields of a source have been reported already.
  if (spec.cron?.schedule !== undefined) causes.push(...validateCron(spec.cron));
  if (spec.http?.path !== undefined) causes.push(...validateHttp(spec.http));
  if (spec.object?.apiVersion !== undefined && spec.object.kind !== undefined)
    causes.push(...validateObject(spec.object));
  if (spec.result?.function !== undefined) {
    causes.push(...nameCauses('spec.result.function', spec.result.function, checkDns1123Subdomain));
    causes.push(...someOf('spec.result.outcomes', spec.result.outcomes, outcomes));
  }
  if (spec.file) causes.push(...validateFile(spec.file));
  return causes;
}

function validateCron({
  schedule,
  timeZone,
  startingDeadlineSeconds,
}: NonNullable<Spec['cron']>): StatusCause[] {
  const causes = validateSchedule(schedule, 'spec.cron.schedule');
  if (timeZone !== undefined) causes.push(...validateTimeZone(timeZone, 'spec.cron.timeZone'));
  if (startingDeadlineSeconds !== undefined && startingDeadlineSeconds < 0)
    causes.push(
      invalidCause(
        'spec.cron.startingDeadlineSeconds',
        startingDeadlineSeconds,
        'must be greater than or equal to 0',
      ),
    );
  return causes;
}

function validateHttp(http: NonNullable<Spec['http']>): StatusCause[] {
  const causes = someOf('spec.http.methods', http.methods);
  const isStep = http.path.split('/').some((part) => part === '.' || part === '..');
  if (http.path.length > maxPathLength) causes.push(tooLongCause('spec.http.path', maxPathLength));
  else if (!path.test(http.path) || isStep)
    causes.push(
      invalidCause(
        'spec.http.path',
        http.path,
        'must be a path such as /orders/new, of letters, digits and ._~-',
      ),
    );
  return causes;
}

function validateObject(object: NonNullable<Spec['object']>): StatusCause[] {
  const causes = someOf('spec.object.types', object.types, changeTypes);
  const parts = object.apiVersion.split('/');
  const [group, served] = parts.length === 1 ? [undefined, parts[0]] : parts;
  if (parts.length > 2 || !version.test(served ?? ''))
    causes.push(
      invalidCause('spec.object.apiVersion', object.apiVersion, 'must be VERSION or GROUP/VERSION'),
    );
  if (group !== undefined) causes.push(...nameCauses('spec.object.apiVersion', group, checkDns1123Subdomain));
  if (!kind.test(object.kind))
    causes.push(invalidCause('spec.object.kind', object.kind, 'must be the name of a kind, such as Pod'));
  if (group === 'minik8s.io') causes.push(...validateOwnKind(object));
  if (object.namespace !== undefined && object.namespace !== '*')
    causes.push(...nameCauses('spec.object.namespace', object.namespace, checkDns1123Label));
  causes.push(...readable('spec.object.labelSelector', object.labelSelector, parseLabelSelector));
  return [...causes, ...readable('spec.object.fieldSelector', object.fieldSelector, parseFieldSelector)];
}

function validateOwnKind({ kind: name, types }: NonNullable<Spec['object']>): StatusCause[] {
  if (ownKinds.includes(name))
    return [forbiddenCause('spec.object.kind', 'each event would make another one')];
  if (name !== 'Function' || !types.includes('Updated')) return [];
  const rule = 'calls change the status of Functions: name Created, Deleted or both';
  return [forbiddenCause('spec.object.types', rule)];
}

type FileSource = NonNullable<Spec['file']>;

function validateFile(file: FileSource): StatusCause[] {
  const { claimName, folder, pattern } = file;
  // A source that could not be decoded has no defaults.
  const causes = someOf('spec.file.types', file.types ?? changeTypes, changeTypes);
  if (claimName === undefined && folder === undefined)
    causes.push(requiredCause('spec.file', 'one of claimName and folder is required'));
  if (claimName !== undefined && folder !== undefined)
    causes.push(forbiddenCause('spec.file.folder', 'must not be set together with claimName'));
  causes.push(...validateClaim(file), ...validateFolder(file));
  const fault = pattern === undefined ? undefined : patternFault(pattern);
  if (pattern !== undefined && fault !== undefined)
    causes.push(invalidCause('spec.file.pattern', pattern, fault));
  return causes;
}

function validateClaim({ claimName, path: within }: FileSource): StatusCause[] {
  const causes =
    claimName === undefined ? [] : nameCauses('spec.file.claimName', claimName, checkDns1123Subdomain);
  const rule = 'must be a path such as in/new, without a "/" at its ends, "." or ".."';
  if (within !== undefined && claimName === undefined)
    causes.push(
      forbiddenCause('spec.file.path', 'must not be set without claimName: it is a path in that volume'),
    );
  else if (within !== undefined && !isPath(within)) causes.push(invalidCause('spec.file.path', within, rule));
  return causes;
}

function validateFolder({ folder, nodeSelector }: FileSource): StatusCause[] {
  const causes: StatusCause[] = [];
  const rule = 'must be an absolute path such as /srv/in, without "." or ".."';
  if (folder !== undefined && !(folder.startsWith('/') && isPath(folder.slice(1))))
    causes.push(invalidCause('spec.file.folder', folder, rule));
  if (nodeSelector !== undefined && folder === undefined)
    causes.push(
      forbiddenCause(
        'spec.file.nodeSelector',
        'must not be set without folder: the volume of a claim determines the node',
      ),
    );
  return causes;
}

const maxFolderLength = 1024;

/** Returns true for a relative path without elements that lead elsewhere. */
const isPath = (text: string) =>
  text.length <= maxFolderLength &&
  !text.includes('\0') &&
  text.split('/').every((part) => part !== '' && part !== '.' && part !== '..');

function readable(field: string, text: string | undefined, parse: (text: string) => unknown): StatusCause[] {
  if (text === undefined) return [];
  try {
    parse(text);
    return [];
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    return [invalidCause(field, text, error.message)];
  }
}

/** Requires at least one value, and no value that is not supported; any value is if `supported` is absent. */
function someOf(field: string, list: readonly string[], supported = list): StatusCause[] {
  if (list.length === 0) return [requiredCause(field, 'name at least one, or leave the field out')];
  return list.flatMap((value, index) =>
    supported.includes(value) ? [] : [notSupportedCause(`${field}[${index}]`, value, supported)],
  );
}

function validateInput({ input }: Spec): StatusCause[] {
  if (input === undefined) return [];
  return JSON.stringify(input).length > maxInput ? [tooLongCause('spec.input', maxInput)] : [];
}

function validateNumbers({ retry, deadLetters }: Spec): StatusCause[] {
  const { maxAttempts, minSeconds, maxSeconds } = retry;
  const causes = [
    ...within('spec.retry.maxAttempts', maxAttempts, 1, 100),
    ...within('spec.retry.minSeconds', minSeconds, 1, 3600),
    ...within('spec.retry.maxSeconds', maxSeconds, 1, 86_400),
    ...within('spec.deadLetters.limit', deadLetters.limit, 0, 10_000),
  ];
  if (causes.length === 0 && maxSeconds < minSeconds)
    causes.push(invalidCause('spec.retry.maxSeconds', maxSeconds, 'must not be less than minSeconds'));
  return causes;
}

const within = (field: string, value: number, least: number, greatest: number): StatusCause[] =>
  value >= least && value <= greatest
    ? []
    : [invalidCause(field, value, `must be between ${least} and ${greatest}, inclusive`)];
