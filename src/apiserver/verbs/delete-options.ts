/** DeleteOptions, from the body or, without a body, from query parameters. */
import { isRecord } from '../../apimachinery/equality.ts';
import { invalidCause, notSupportedCause } from '../../apimachinery/field-error.ts';
import { newBadRequest, newInvalid, type StatusCause } from '../../apimachinery/status-error.ts';
import type { DeletionOptions, PropagationPolicy } from '../registry/deletion.ts';
import type { Preconditions } from '../registry/object-meta.ts';
import { parseDryRun, type RequestScope } from '../request/request-scope.ts';
import { readKind } from './read-body.ts';

export interface DeleteBody extends DeletionOptions {
  readonly preconditions: Preconditions;
  readonly dryRun: boolean;
  /** True if the client asked, by `orphanDependents: false`, to delete dependents too. */
  readonly withDependents: boolean;
}

const kind = { group: 'meta.k8s.io', kind: 'DeleteOptions' };
const policies: readonly PropagationPolicy[] = ['Orphan', 'Background', 'Foreground'];

export async function readDeleteOptions(scope: RequestScope): Promise<DeleteBody> {
  const body = await readKind(scope, 'meta.v1.DeleteOptions');
  const fields = Object.keys(body).length > 0 ? body : queryFields(scope.query);
  return parseDeleteFields(fields, scope.query.getAll('dryRun'));
}

/** Checks the fields of DeleteOptions. `dryRun` are additional values from elsewhere. */
export function parseDeleteFields(fields: Fields, dryRun: readonly string[]): DeleteBody {
  return {
    gracePeriodSeconds: asSeconds(fields.gracePeriodSeconds),
    propagationPolicy: asPolicy(fields),
    withDependents: fields.orphanDependents === false,
    preconditions: asPreconditions(fields.preconditions),
    dryRun: parseDryRun([...asStrings(fields.dryRun, 'dryRun'), ...dryRun], kind),
  };
}

type Fields = Readonly<Record<string, unknown>>;

/** Returns the same fields from query parameters; null counts as absent. */
function queryFields(query: URLSearchParams): Fields {
  const grace = query.get('gracePeriodSeconds');
  const orphan = query.get('orphanDependents');
  return {
    gracePeriodSeconds: grace?.match(/^-?\d+$/) ? Number(grace) : grace,
    propagationPolicy: query.get('propagationPolicy'),
    ...(orphan !== null && { orphanDependents: orphan !== 'false' && orphan !== '0' }),
  };
}

function refuse(cause: StatusCause): never {
  throw newInvalid(kind, '', [cause]);
}

function asStrings(value: unknown, field: string): string[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value) && value.every((item) => typeof item === 'string')) return value;
  throw newBadRequest(`error decoding the delete options: ${field} must be a list of strings`);
}

function asSeconds(value: unknown): number | undefined {
  if (value === undefined || value === null) return undefined;
  if (Number.isSafeInteger(value)) return value as number;
  return refuse(invalidCause('gracePeriodSeconds', value, 'must be an integer'));
}

function asPolicy({ propagationPolicy: policy, orphanDependents }: Fields): PropagationPolicy | undefined {
  const given = policy !== undefined && policy !== null && policy !== '';
  if (orphanDependents !== undefined && orphanDependents !== null) {
    if (given) {
      refuse(
        invalidCause(
          'propagationPolicy',
          policy,
          'orphanDependents and deletionPropagation cannot be both set',
        ),
      );
    }
    return orphanDependents === true ? 'Orphan' : 'Background';
  }
  if (!given) return undefined;
  const found = policies.find((known) => known === policy);
  return found ?? refuse(notSupportedCause('propagationPolicy', policy, policies));
}

function asPreconditions(value: unknown): Preconditions {
  if (value === undefined || value === null) return {};
  if (!isRecord(value))
    throw newBadRequest('error decoding the delete options: preconditions must be an object');
  const { uid, resourceVersion } = value;
  for (const text of [uid, resourceVersion]) {
    if (text !== undefined && text !== null && typeof text !== 'string') {
      throw newBadRequest('error decoding the delete options: preconditions must be strings');
    }
  }
  return {
    ...(typeof uid === 'string' && { uid }),
    ...(typeof resourceVersion === 'string' && { resourceVersion }),
  };
}
