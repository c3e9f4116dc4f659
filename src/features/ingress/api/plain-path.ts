/** Paths of Ingresses in the form in which they are compared. Pure. */

const plain = /^\/[A-Za-z0-9._~!'()*+,;=:@&/-]*$/;

/** Returns why a path, which is not a pattern, cannot be served; undefined if it can. */
export function pathProblem(path: string): string | undefined {
  if (path.length > 1024) return 'must have no more than 1024 characters';
  if (!plain.test(path))
    return "must consist of letters, digits and any of -._~!'()*+,;=:@&/ (the server compares decoded paths)";
  return undefined;
}

/** Returns the path without slashes at its end, except `/` itself: a Prefix ignores them. */
export function withoutSlash(path: string): string {
  let end = path.length;
  while (end > 1 && path[end - 1] === '/') end--;
  return path.slice(0, end);
}
