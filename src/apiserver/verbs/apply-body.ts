/** The configuration that a client applies: YAML, which includes JSON. */
import type { FieldValidation } from '../../apimachinery/decode.ts';
import { decodeFields, noFindings } from '../../apimachinery/decode-fields.ts';
import { isRecord, type JsonObject } from '../../apimachinery/equality.ts';
import type { ObjectType } from '../../apimachinery/field-types.ts';
import { type ParsedText, parseJson } from '../../apimachinery/json-decode.ts';
import { fieldsOf } from '../../apimachinery/managed-fields/fields-of.ts';
import type { ResourceRef } from '../../apimachinery/resource-definition.ts';
import { TypeMismatch } from '../../apimachinery/scalars.ts';
import { newBadRequest } from '../../apimachinery/status-error.ts';
import { traceAnnotation } from '../../apimachinery/trace-note.ts';
import {
  maxOwnerValues,
  measureJson,
  TextError,
  tooManyValues,
  valueLimits,
} from '../../apimachinery/value-limit.ts';
import { readBody } from '../body/body.ts';
import type { RequestScope } from '../request/request-scope.ts';
import { countedName } from '../request/user.ts';
import { applyRefusal, type Described, notTyped } from './apply-refusal.ts';
import { takesYaml } from './read-body.ts';

export interface Configuration extends Described {
  /** Has the kind and version of the object that it is applied to, and only fields that the kind has. */
  readonly value: JsonObject;
}

/** Type of the applied object: the kind, or the kind of a subresource. */
type Typed = Pick<ResourceRef, 'group' | 'version' | 'kind'> & { readonly type: ObjectType };

/**
 * Reads and checks the configuration. Throws 400 if the body cannot be parsed, has another kind, has fields
 * that the kind lacks, or has managedFields.
 */
export async function readConfiguration(
  scope: RequestScope,
  typed: Typed,
  validation: FieldValidation,
): Promise<Configuration> {
  const text = (await readBody(scope)).toString();
  const { value, duplicates, repeats } = await parse(scope, text);
  await scope.work.pause();
  if (!isRecord(value)) throw newBadRequest('error decoding YAML: an object was expected');
  checkKind(value, typed);
  const metadata = isRecord(value.metadata) ? value.metadata : {};
  if (Array.isArray(metadata.managedFields)) throw newBadRequest('metadata.managedFields must be nil');
  if (scope.server.notesTraces && isRecord(metadata.annotations))
    delete metadata.annotations[traceAnnotation];
  const { info } = scope;
  const described = `${info.namespace}/${info.name}; ${textOf(typed)}`;
  checkFields(value, typed.type, described);
  await scope.work.pause();
  checkOwned(value, typed.type, described);
  await scope.work.pause();
  report(scope, duplicates, repeats, validation);
  return { value, described };
}

async function parse(scope: RequestScope, text: string): Promise<ParsedText> {
  try {
    return await parseText(scope, text);
  } catch (error) {
    if (error instanceof TextError) throw newBadRequest(`error decoding YAML: ${error.message}`);
    throw error;
  }
}

/** Parses JSON without a worker thread, because almost all clients send JSON. */
async function parseText(scope: RequestScope, text: string): Promise<ParsedText> {
  const machine = !takesYaml(scope.user);
  if (/^\s*\{/.test(text) || machine) {
    const { body: most } = valueLimits(scope);
    // A body that is too large as JSON is not tried as YAML.
    measureJson(text, most);
    try {
      return parseJson(text, true, most);
    } catch (error) {
      if (machine || !(error instanceof TextError)) throw error;
    }
  }
  return scope.server.readYaml(text, countedName(scope.user.name));
}

/** Formats a group, version and kind as Go does. */
const textOf = ({ group, version, kind }: { group: string; version: string; kind: string }) =>
  `${group}/${version}, Kind=${kind}`;

function checkKind({ apiVersion, kind }: JsonObject, typed: Typed): void {
  const [version = '', group = ''] = (typeof apiVersion === 'string' ? apiVersion : '').split('/').reverse();
  const sentType = { group, version, kind: typeof kind === 'string' ? kind : '' };
  if (textOf(sentType) !== textOf(typed)) throw newBadRequest(`invalid object type: ${textOf(sentType)}`);
}

function checkFields(value: JsonObject, type: ObjectType, described: string): void {
  const findings = noFindings();
  try {
    decodeFields(value, type, findings);
  } catch (error) {
    if (error instanceof TypeMismatch) throw notTyped({ described }, [error.message]);
    throw error;
  }
  if (findings.unknown.length === 0) return;
  const problems = findings.unknown.map((path) => `.${path}: field not declared in schema`);
  throw notTyped({ described }, problems);
}

/** Rejects a configuration with too many fields to own, before it is processed further. */
function checkOwned(value: JsonObject, type: ObjectType, described: string): void {
  try {
    if (fieldsOf(value, { kind: 'fields', type }, 'once').size > maxOwnerValues)
      throw tooManyValues(maxOwnerValues);
  } catch (error) {
    throw applyRefusal(error, { described });
  }
}

/** Reports repeated keys as a warning by their paths, or strictly in the words of Go's decoder of YAML. */
function report(
  scope: RequestScope,
  duplicates: readonly string[],
  repeats: readonly string[] | undefined,
  validation: FieldValidation,
): void {
  if (duplicates.length === 0 || validation === 'Ignore') return;
  const problems = duplicates.map((path) => `duplicate field ${JSON.stringify(path)}`);
  const strict = repeats?.length ? `yaml: unmarshal errors:\n  ${repeats.join('\n  ')}` : problems.join(', ');
  if (validation === 'Strict') throw newBadRequest(`error strict decoding YAML: ${strict}`);
  scope.warnings.push(...problems);
}
