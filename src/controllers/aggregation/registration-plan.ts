/** Decides what becomes of an APIService whose group and version this server may serve. Pure. */
import type { APIService } from '../../api/apiregistration/v1/api-service.ts';
import { automanagedLabel, type LocalService } from '../../api/apiregistration/v1/local-services.ts';
import { deepEqual } from '../../apimachinery/equality.ts';
import { isTerminating } from '../../apimachinery/meta.ts';

export type RegistrationPlan =
  | { readonly type: 'none' }
  | { readonly type: 'create'; readonly draft: LocalService['draft'] }
  | { readonly type: 'update'; readonly service: APIService }
  | { readonly type: 'remove'; readonly uid: string };

const none: RegistrationPlan = { type: 'none' };

/**
 * Plans the APIService. Those of permanent kinds are restored, so that no extension server can claim a
 * built-in group. For other kinds, an APIService without the label of this server is left alone, as upstream
 * does.
 */
export function planRegistration(
  wanted: LocalService | undefined,
  existing: APIService | undefined,
): RegistrationPlan {
  if (!existing) return wanted ? { type: 'create', draft: wanted.draft } : none;
  // The deletion arrives as an event; the object is created again then.
  if (isTerminating(existing)) return none;
  const isManaged = labelOf(existing) !== undefined;
  if (!wanted) return isManaged ? { type: 'remove', uid: existing.metadata.uid } : none;
  return isManaged || wanted.isPermanent ? planRestoration(wanted.draft, existing) : none;
}

function planRestoration(draft: LocalService['draft'], existing: APIService): RegistrationPlan {
  const label = labelOf(draft);
  if (deepEqual(existing.spec, draft.spec) && labelOf(existing) === label) return none;
  const labels = { ...existing.metadata.labels, ...(label !== undefined && { [automanagedLabel]: label }) };
  const metadata = { ...existing.metadata, labels };
  return { type: 'update', service: { ...existing, metadata, spec: draft.spec } };
}

const labelOf = ({ metadata }: Pick<LocalService['draft'] | APIService, 'metadata'>) =>
  metadata.labels?.[automanagedLabel];
