/** Parts of CORS filters that cannot be served. Pure. */
import type { ListenerProblem } from './listeners.ts';
import type { CorsFilter } from './route-types.ts';
import { first, unsupported } from './route-value-problems.ts';

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE', 'PATCH']);
const origin = /^https?:\/\/(?:(?:\*\.)?[a-z0-9-]+(?:\.[a-z0-9-]+)*|\*)(?::\d{1,5})?$/i;
const headerName = /^[A-Za-z0-9!#$%&'+.^_`|~-]{1,256}$/;

/** Returns the first problem, with the place of the field in the filter. */
export function corsProblem(filter: CorsFilter): ListenerProblem | undefined {
  const { allowOrigins = [], allowMethods = [], allowHeaders = [], exposeHeaders = [], maxAge = 1 } = filter;
  const lists = [
    { name: 'allowOrigins', list: allowOrigins, is: (one: string) => origin.test(one), what: 'an origin' },
    { name: 'allowMethods', list: allowMethods, is: (one: string) => methods.has(one), what: 'a method' },
    { name: 'allowHeaders', list: allowHeaders, is: isHeaderName, what: 'the name of a header' },
    { name: 'exposeHeaders', list: exposeHeaders, is: isHeaderName, what: 'the name of a header' },
  ];
  return (
    first(lists, ({ name, list, is, what }) => {
      if (list.includes('*') && list.length > 1) return unsupported(`.${name}: '*' excludes other values`);
      const wrong = list.find((one) => one !== '*' && !is(one));
      return wrong === undefined
        ? undefined
        : unsupported(`.${name}: ${JSON.stringify(wrong)} is not ${what}`);
    }) ??
    (Number.isSafeInteger(maxAge) && maxAge > 0
      ? undefined
      : unsupported(`.maxAge: ${maxAge} is not above 0`))
  );
}

const isHeaderName = (one: string) => headerName.test(one);
