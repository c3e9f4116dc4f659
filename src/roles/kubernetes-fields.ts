/** The fields of Kubernetes' own kinds, for the client, which otherwise gets kinds from servers only. */
import type { FieldTable } from '../apimachinery/field-types.ts';

/** Loads the table, which most commands do not need. */
export const kubernetesFields = async (): Promise<FieldTable> =>
  (await import('../api/field-table.ts')).kubernetesFields;
