//! Values of guest registers, which engines of API 3 and later give; others give none.

#[cfg(feature = "api-v2")]
mod family {
    use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
    use std::sync::OnceLock;

    /// A register's name for the engine; only seen as a pointer.
    #[repr(C)]
    struct Handle {
        _private: [u8; 0],
    }

    /// One entry of the engine's list.
    #[repr(C)]
    struct Descriptor {
        handle: *mut Handle,
        name: *const c_char,
        feature: *const c_char,
    }

    /// The two fields that glib documents of its arrays.
    #[repr(C)]
    struct Array {
        data: *mut u8,
        len: c_uint,
    }

    unsafe extern "C" {
        fn qemu_plugin_get_registers() -> *mut Array;
        fn qemu_plugin_read_register(handle: *mut Handle, to: *mut Array) -> c_int;
        // The engine is linked with glib.
        fn g_byte_array_new() -> *mut Array;
        fn g_byte_array_set_size(array: *mut Array, size: c_uint) -> *mut Array;
        fn g_byte_array_free(array: *mut Array, free_data: c_int) -> *mut c_void;
    }

    /// Where to find the registers that are read.
    struct Known {
        x: [*mut Handle; 31],
        sp: *mut Handle,
        vectors: *mut Handle,
        syndrome: *mut Handle,
        link: *mut Handle,
        table: *mut Handle,
        /// Z0, and P0 to P15, if there is SVE.
        vectors_of_sve: Option<(*mut Handle, [*mut Handle; 16])>,
    }

    // SAFETY: the handles are numbers to the engine, the same for all virtual CPUs and threads.
    unsafe impl Send for Known {}
    // SAFETY: as above.
    unsafe impl Sync for Known {}

    static KNOWN: OnceLock<Option<Known>> = OnceLock::new();

    /// Looks the registers up; true if they are all there. Must be called from the callback that announces
    /// a virtual CPU.
    pub(crate) fn find() -> bool {
        KNOWN.get_or_init(look_up).is_some()
    }

    fn look_up() -> Option<Known> {
        // SAFETY: the engine returns an array of descriptors with C strings that live as long as it does.
        let list = unsafe {
            let array = qemu_plugin_get_registers();
            let array = array.as_ref()?;
            std::slice::from_raw_parts(array.data.cast::<Descriptor>(), array.len as usize)
        };
        let find = |wanted: &str| {
            // SAFETY: as above.
            let is_it =
                |d: &&Descriptor| unsafe { CStr::from_ptr(d.name) }.to_bytes() == wanted.as_bytes();
            list.iter().find(is_it).map(|descriptor| descriptor.handle)
        };
        let mut x = [std::ptr::null_mut(); 31];
        for (number, slot) in x.iter_mut().enumerate() {
            *slot = find(&format!("x{number}"))?;
        }
        let mut predicates = [std::ptr::null_mut(); 16];
        let mut has_predicates = true;
        for (number, slot) in predicates.iter_mut().enumerate() {
            let handle = find(&format!("p{number}"));
            has_predicates &= handle.is_some();
            *slot = handle.unwrap_or(*slot);
        }
        Some(Known {
            x,
            vectors_of_sve: find("z0").filter(|_| has_predicates).map(|first| (first, predicates)),
            sp: find("sp")?,
            vectors: find("VBAR").or_else(|| find("VBAR_EL1"))?,
            syndrome: find("ESR_EL1")?,
            link: find("ELR_EL1")?,
            table: find("TTBR0_EL1")?,
        })
    }

    fn read(pick: impl FnOnce(&Known) -> *mut Handle) -> Option<u64> {
        bytes(pick(KNOWN.get()?.as_ref()?)).map(u64::from_le_bytes)
    }

    /// The value of a register of at least so many bytes.
    fn bytes<const N: usize>(handle: *mut Handle) -> Option<[u8; N]> {
        // SAFETY: callers are callbacks that announced that they read registers; the array is this
        // function's own and the engine fills it with at most a register's bytes.
        unsafe {
            let array = g_byte_array_new();
            g_byte_array_set_size(array, 0);
            let length = qemu_plugin_read_register(handle, array);
            let bytes = std::slice::from_raw_parts((*array).data, (*array).len as usize);
            let value = bytes.first_chunk().copied();
            g_byte_array_free(array, 1);
            value.filter(|_| length > 0)
        }
    }

    /// X0 to X30; the number 31 is the zero register.
    pub(crate) fn x(number: u32) -> Option<u64> {
        match number {
            31 => Some(0),
            _ => read(|known| known.x[number as usize & 31]),
        }
    }

    /// X0 to X30, or with number 31 the stack pointer.
    pub(crate) fn x_or_sp(number: u32) -> Option<u64> {
        match number {
            31 => read(|known| known.sp),
            _ => x(number),
        }
    }

    /// The 16 bits of P0 to P15 with vectors of 16 bytes; `None` with longer ones.
    pub(crate) fn p(number: u32) -> Option<u16> {
        static IS_SHORT: OnceLock<bool> = OnceLock::new();
        let (first, predicates) = KNOWN.get()?.as_ref()?.vectors_of_sve?;
        let is_short = || bytes::<16>(first).is_some() && bytes::<17>(first).is_none();
        // The engine gives four times as many bits as there are.
        let bits = IS_SHORT.get_or_init(is_short).then(|| bytes(predicates[number as usize & 15]));
        bits.flatten().map(u16::from_le_bytes)
    }

    /// `VBAR_EL1`.
    pub(crate) fn vectors() -> Option<u64> {
        read(|known| known.vectors)
    }

    /// `TTBR0_EL1`.
    pub(crate) fn table() -> Option<u64> {
        read(|known| known.table)
    }

    /// `ESR_EL1` and `ELR_EL1`.
    pub(crate) fn exception() -> Option<(u64, u64)> {
        Some((read(|known| known.syndrome)?, read(|known| known.link)?))
    }
}

#[cfg(not(feature = "api-v2"))]
mod family {
    /// False: this interface has no registers.
    pub(crate) fn find() -> bool {
        false
    }

    /// Nothing.
    pub(crate) fn x(_number: u32) -> Option<u64> {
        None
    }

    /// Nothing.
    pub(crate) fn x_or_sp(_number: u32) -> Option<u64> {
        None
    }

    /// Nothing.
    pub(crate) fn p(_number: u32) -> Option<u16> {
        None
    }

    /// Nothing.
    pub(crate) fn vectors() -> Option<u64> {
        None
    }

    /// Nothing.
    pub(crate) fn table() -> Option<u64> {
        None
    }

    /// Nothing.
    pub(crate) fn exception() -> Option<(u64, u64)> {
        None
    }
}

pub(crate) use family::{exception, find, p, table, vectors, x, x_or_sp};
