/** Suggests `ctl convert` for a manifest that the server rejects and the converter can read. */

import { shellWord } from '../../base/shell-words.ts';
import type { VerbContext } from '../verb.ts';
import type { Manifest } from './manifests.ts';

/**
 * Prints the suggestion after the error of a manifest; prints nothing for a manifest in Kubernetes' own form.
 */
export async function adviseToConvert(
  { io }: Pick<VerbContext, 'io'>,
  { file, line, object }: Pick<Manifest, 'file' | 'line' | 'object'>,
): Promise<void> {
  // The converter is loaded only when it is needed.
  const { isOtherDialect } = await import('../convert/dialect.ts');
  if (!isOtherDialect(object, await io.kubernetesFields())) return;
  const input = file === 'STDIN' ? '-' : shellWord(file);
  io.err(
    `Note: ${file}:${line} is in another form than Kubernetes has now; convert it: ` +
      `minik8s ctl convert -f ${input} | minik8s ctl apply -f -\n`,
  );
}
