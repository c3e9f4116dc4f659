/** Components whose code is loaded when they are first shown. */
import type { ComponentType, FunctionComponent } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { errorMessage } from '../../../base/log.ts';

/** Returns a component that loads its code once; `load` resolves to the component. */
export function lazy<P extends object>(load: () => Promise<ComponentType<P>>): FunctionComponent<P> {
  let loaded: ComponentType<P> | undefined;
  return function Lazy(props: P) {
    const [Loaded, setLoaded] = useState<ComponentType<P> | undefined>(() => loaded);
    const [failure, setFailure] = useState('');
    useEffect(() => {
      if (Loaded) return;
      load().then(
        (component) => {
          loaded = component;
          setLoaded(() => component);
        },
        (error) => setFailure(errorMessage(error)),
      );
    }, []);
    if (Loaded) return <Loaded {...props} />;
    return <p class={failure ? 'empty bad' : 'empty pulse'}>{failure || 'Loading…'}</p>;
  };
}
