import type { KubeObject } from '../../../apimachinery/meta.ts';

export const YamlTab = ({ object }: { readonly object: KubeObject }) => (
  <pre class="panel">{JSON.stringify(object, null, 2)}</pre>
);
