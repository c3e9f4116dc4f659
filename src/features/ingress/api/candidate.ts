/** A path of an Ingress. */
import type { Ingress } from '../../../api/networking/v1/ingress.ts';

export type Backend = NonNullable<
  NonNullable<NonNullable<Ingress['spec']['rules']>[number]['http']>['paths'][number]['backend']
>;

/** A path of an Ingress for one host. */
export interface Candidate {
  /** A name, `*.` and a name, or '' for every other host; in lower case. */
  readonly host: string;
  readonly match: { readonly type: 'Exact' | 'Prefix' | 'Regex'; readonly path: string };
  readonly backend: Backend;
  /** True if the path comes from spec.defaultBackend. */
  readonly isDefault: boolean;
}
