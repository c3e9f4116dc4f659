/** Validation of metadata, the same for every kind (k8s.io/apimachinery api/validation/objectmeta.go). */
import { forbiddenCause, invalidCause, joinPath, requiredCause, tooLongCause } from './field-error.ts';
import type { KubeObject, ObjectMeta, OwnerReference } from './meta.ts';
import {
  checkDns1123Label,
  checkDns1123Subdomain,
  checkLabelValue,
  checkQualifiedName,
  type NameCheck,
  nameCauses,
} from './names.ts';
import type { ResourceDefinition } from './resource-definition.ts';
import type { StatusCause } from './status-error.ts';

const maxAnnotationBytes = 256 * 1024;

export interface MetaRules {
  readonly namespaced: boolean;
  /** Checks the names of the kind; default: a DNS-1123 subdomain. */
  readonly checkName?: NameCheck;
}

/**
 * Validates labels of an object or a template; `path` is the field that holds them, such as
 * `metadata.labels`.
 */
export function validateLabels(labels: Readonly<Record<string, string>>, path: string): StatusCause[] {
  return Object.entries(labels).flatMap(([key, value]) => [
    ...nameCauses(path, key, checkQualifiedName),
    ...nameCauses(path, value, checkLabelValue),
  ]);
}

/** Validates annotations: keys are validated in lower case; all annotations together may have 256 KiB. */
export function validateAnnotations(
  annotations: Readonly<Record<string, string>>,
  path: string,
): StatusCause[] {
  const entries = Object.entries(annotations);
  const causes = entries.flatMap(([key]) =>
    checkQualifiedName(key.toLowerCase()).map((reason) => invalidCause(path, key, reason)),
  );
  return areTooLong(annotations) ? [...causes, tooLongCause(path, maxAnnotationBytes)] : causes;
}

/** Returns true if the annotations exceed the maximum length. */
export function areTooLong(annotations: Readonly<Record<string, string>>): boolean {
  const bytes = Object.entries(annotations).reduce(
    (sum, [key, value]) => sum + utf8Length(key) + utf8Length(value),
    0,
  );
  return bytes > maxAnnotationBytes;
}

/** Returns the problems of the metadata of an object of that kind. */
export function metaCauses<T extends KubeObject>(
  { namespaced, strategy: { checkName } }: ResourceDefinition<T>,
  { metadata }: T,
): StatusCause[] {
  return validateObjectMeta(metadata, { namespaced, ...(checkName && { checkName }) });
}

/** Returns all problems of an object's metadata that can be found without the object that it replaces. */
export function validateObjectMeta(meta: ObjectMeta, rules: MetaRules, path = 'metadata'): StatusCause[] {
  return [
    ...validateIdentity(meta, rules, path),
    ...validateLabels(meta.labels ?? {}, joinPath(path, 'labels')),
    ...validateAnnotations(meta.annotations ?? {}, joinPath(path, 'annotations')),
    ...validateOwners(meta.ownerReferences ?? [], joinPath(path, 'ownerReferences')),
    ...(meta.finalizers ?? []).flatMap((finalizer) =>
      nameCauses(joinPath(path, 'finalizers'), finalizer, checkQualifiedName),
    ),
  ];
}

function validateIdentity(meta: ObjectMeta, rules: MetaRules, path: string): StatusCause[] {
  const check = rules.checkName ?? checkDns1123Subdomain;
  const causes: StatusCause[] = [];
  // The random suffix completes the name, so a prefix may end in a character that a name must not end in.
  if (meta.generateName)
    causes.push(
      ...check(`${meta.generateName}x`).map((reason) =>
        invalidCause(joinPath(path, 'generateName'), meta.generateName, reason),
      ),
    );
  if (meta.name) causes.push(...nameCauses(joinPath(path, 'name'), meta.name, check));
  else causes.push(requiredCause(joinPath(path, 'name'), 'name or generateName is required'));
  if (!rules.namespaced) {
    if (meta.namespace) causes.push(forbiddenCause(joinPath(path, 'namespace'), 'not allowed on this type'));
  } else if (!meta.namespace) causes.push(requiredCause(joinPath(path, 'namespace')));
  else causes.push(...nameCauses(joinPath(path, 'namespace'), meta.namespace, checkDns1123Label));
  return causes;
}

function validateOwners(owners: readonly OwnerReference[], path: string): StatusCause[] {
  const causes = owners.flatMap((owner, index) => validateOwner(owner, `${path}[${index}]`));
  const controllers = owners.filter((owner) => owner.controller === true);
  if (controllers.length > 1)
    causes.push(
      invalidCause(
        path,
        owners,
        `Only one reference can have Controller set to true. Found "true" in references for ${controllers
          .map((owner) => `${owner.kind}/${owner.name}`)
          .join(' and ')}`,
      ),
    );
  return causes;
}

function validateOwner(owner: OwnerReference, path: string): StatusCause[] {
  const causes: StatusCause[] = [];
  if (!owner.apiVersion)
    causes.push(invalidCause(joinPath(path, 'apiVersion'), owner.apiVersion, 'version must not be empty'));
  for (const field of ['kind', 'name', 'uid'] as const) {
    if (!owner[field])
      causes.push(invalidCause(joinPath(path, field), owner[field], `${field} must not be empty`));
  }
  return causes;
}

function utf8Length(text: string): number {
  let bytes = 0;
  for (const char of text) bytes += utf8Bytes(char.codePointAt(0) ?? 0);
  return bytes;
}

/** Returns the number of bytes that a character has in UTF-8. */
function utf8Bytes(code: number): number {
  if (code < 0x80) return 1;
  if (code < 0x800) return 2;
  return code < 0x10000 ? 3 : 4;
}
