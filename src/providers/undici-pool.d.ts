// undici declares types for its front door only.
declare module 'undici/lib/dispatcher/pool.js' {
  export { Pool as default } from 'undici';
}
