/** Style sheets, which the build combines into one. */
declare module '*.css';
